/* SPDX-License-Identifier: MIT
 *
 * The options of asterism cluster, and the one step from what was typed to what is done. What depends on one option
 * alone is in its row; here is what depends on values. */
#include "cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"
#include "stereonet.h"
#include "ranks.h"
#include "rows_output.h"
#include "terminal.h"

typedef ast_cli_cluster_settings settings;

static const char *const automatic[] = {"auto", NULL};
static const char *const metrics[] = {"plain", "local", "auto", NULL};    /* in the order of AST_CLI_METRIC_PLAIN .. */
static const char *const orders[] = {"given", "content", "random", NULL}; /* in the order of ast_order */

#define WHOLE (AST_CLI_ON_RANKS | AST_CLI_IN_PARTS) /* modes in which no process has all points in memory */
#define MERGED (AST_CLI_DP | AST_CLI_SPKM)

#define AT(field) offsetof(settings, field)
static const ast_cli_option options_table[] = {
    {"angle", AST_CLI_REAL, "DEG",
     "how far a point may be from its mean, 0 to 180 degrees; a larger angle gives fewer clusters; auto: "
     "as tune recommends (dp)",
     AT(options.angle), 0, 180, .choices = automatic, .methods = AST_CLI_BY_ANGLE,
     .required = "how far a point may be from its mean, such as --angle 25 or --cosine 0.9, or --angle auto to have it "
                 "chosen (or "
                 "--method spkm --clusters K)",
     .more = "docs/tune.md says what `auto` does."},
    {"cosine", AST_CLI_COSINE, "C",
     "the same as a cosine similarity: how similar a point must be to its mean, -1 to 1; a smaller cosine gives fewer "
     "clusters",
     AT(options.angle), -1, 1, .methods = AST_CLI_BY_ANGLE, .excludes = "angle"},
    {"method", AST_CLI_CHOICE, "NAME",
     "dp: as many clusters as the angle asks for\n"
     "spkm: spherical k-means, as many clusters as --clusters says\n"
     "mbspkm: spherical k-means learned from batches, for an answer in seconds\n"
     "movmf: a mixture of --clusters von Mises-Fisher distributions; --axial: Watson; --shape kent: Kent\n"
     "fsd: samples of such a mixture, at most --clusters components\n"
     "crp: samples of a Dirichlet process mixture, any number of clusters\n"
     "ospkm: online spherical k-means\n"
     "dpmeans: Euclidean DP-means; ignores the sphere",
     AT(options.method), .choices = ast_cli_batch_names, .standard = "dp",
     .more = "docs/methods.md says what each of them does."},
    {"clusters", AST_CLI_COUNT, "K",
     "the number of clusters; movmf: auto finds it; fsd: the maximum; crp: the number to start from",
     AT(options.clusters), 1, 2147483647, .choices = automatic, .methods = AST_CLI_BY_COUNT,
     .more = "docs/mixtures.md says what `auto` does."},
    {"init", AST_CLI_TEXT, "START",
     "a file of means to start from; with --clusters also k-means++ (the default) or random", AT(init),
     .not_in = AST_CLI_AUTO, .more = "The file has one mean per row; both words are seeded."},
    {"batch", AST_CLI_COUNT, "N", "points in a batch (default 1024, or 10 per cluster if that is more)",
     AT(options.minibatch.points), 1, 2147483647, .methods = AST_CLI_MBSPKM,
     .more = "--max-iterations is the number of batches at most."},
    {"levels", AST_CLI_INT, "L",
     "for very many clusters: find a few coarse clusters first, then the clusters within them; 2 compares a point with "
     "some 16 sqrt(K) means instead of K",
     AT(options.kmeans.levels), 1, 4, .standard = "1", .methods = AST_CLI_SPKM, .not_in = WHOLE,
     .excludes = "state groups", .more = "What that loses is measured and printed. docs/methods.md says how."},
    {"sample", AST_CLI_COUNT, "N",
     "find the clusters among N points drawn by --seed, then visit all points once; points far from every "
     "mean start new clusters, as usual",
     AT(options.dp.sample), 1, 2147483647, .methods = AST_CLI_DP,
     .not_in = AST_CLI_AUTO | AST_CLI_ON_RANKS | AST_CLI_IN_PARTS},
    {"axial", AST_CLI_FLAG, NULL, "treat x and -x as the same: undirected normals, poles of planes, lines, quaternions",
     AT(options.axial), .methods = AST_CLI_AXIAL, .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE,
     .more = "Angles are those between axes, 0 to 90 degrees."},
    {"weights", AST_CLI_READ, "FILE", "one number per point: how much it counts", AT(weights),
     .methods = AST_CLI_ALL & ~AST_CLI_SAMPLERS,
     .more =
         "Weights are finite and not negative. A point of weight 0 counts for nothing, and gets a label if a mean is "
         "near enough."},
    {"groups", AST_CLI_READ, "FILE",
     "one whole number per point: points of one group, such as the faces of one photo, never share a cluster",
     AT(groups), .methods = AST_CLI_DP | AST_CLI_SPKM, .not_in = WHOLE, .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE,
     .excludes = "axial state sample tree layers",
     .more = "Below 0: the point is in no group. spkm gives a point the nearest mean that no point of its group has."},
    {"restarts", AST_CLI_INT, "R", "number of runs, of which the best is kept", AT(options.restarts), 1, 1000000,
     .standard = "1", .not_in = AST_CLI_AUTO | AST_CLI_IN_PARTS,
     .more = "docs/merging.md says how the runs differ and what the result tells of them."},
    {"order", AST_CLI_CHOICE, "ORDER",
     "the order in which points are visited: given (row by row), content (by a seeded hash of the rows: a "
     "permuted file gives permuted labels) or random (seeded, by row number); default: content for dp above 8 "
     "dimensions, "
     "otherwise given",
     AT(options.dp.order), .choices = orders, .methods = AST_CLI_BY_ORDER,
     .more = "With `content` the result does not depend on the order of rows in the file, bit for bit. Points that do "
             "not fit into memory, or are on several ranks, are visited in the given order."},
    {"shuffle", AST_CLI_FLAG, NULL, "the same as --order random", AT(shuffle), .methods = AST_CLI_BY_ORDER,
     .not_in = AST_CLI_AUTO | WHOLE, .excludes = "order"},
    {"merge", AST_CLI_TEXT, "DEG|evidence|none",
     "merge clusters after convergence: those whose means are closer than DEG, or as the evidence says", AT(merge_text),
     .methods = MERGED, .excludes = "merge-to",
     .more =
         "With --angle auto evidence keeps the level that tune chose. docs/merging.md has the rule. Default: none; for "
         "the normals of a cloud two thirds of --angle, and 300 --max-iterations."},
    {"merge-to", AST_CLI_COUNT, "K", "merge clusters after convergence until K are left", AT(options.merge.count), 1,
     2147483647, .methods = MERGED, .more = "It fails if the run found fewer clusters."},
    {"tree", AST_CLI_TEXT, "FILE.json", "write the tree of joins of the clusters before any merge",
     .writes = AST_CLI_WRITES_OWN, .methods = MERGED, .more = "docs/merging.md describes the file."},
    {"leaf-labels", AST_CLI_TEXT, "FILE.npy", "with --tree: write the leaf of every row to this file",
     .writes = AST_CLI_WRITES_ARRAY, .needs = "tree",
     .more = "The file, int32 *.npy* or text, replaces the list in the tree."},
    {"layers", AST_CLI_TEXT, "FILE.json",
     "with --angle auto: write the levels of the tree that stand out, coarse to fine", .writes = AST_CLI_WRITES_OWN,
     .methods = MERGED, .not_in = WHOLE,
     .more =
         "Each layer has its labels, and for every cluster the one of the layer before that it lies in. *docs/tune.md* "
         "says which levels stand out."},
    {"layer-labels", AST_CLI_TEXT, "FILE.npy", "with --layers: write the labels of all layers to this file, a row each",
     .writes = AST_CLI_WRITES_ARRAY, .needs = "layers"},
    {"min-size", AST_CLI_REAL, "N",
     "dissolve clusters with fewer points (by weight, if there are weights); points that fit nowhere get label -1",
     AT(options.merge.min_size), 0, 1e18, .standard = "0", .methods = MERGED, .more = "docs/merging.md has the rule."},
    {"rounding", AST_CLI_REAL, "DEG|auto",
     "the angles of the rows were rounded to so many degrees: equal rows are observations of their own, and each "
     "stands "
     "for a cell of that size; auto finds it, 0 means none (default: auto for measured angles and two dimensions, and "
     "for --clusters auto, "
     "otherwise 0)",
     AT(options.rounding), 0, 45, .choices = automatic, .methods = AST_CLI_DP | AST_CLI_SPKM | AST_CLI_MOVMF,
     .excludes = "state",
     .more =
         "For the evidence of clusters: --merge evidence, --angle auto, tune and mixtures. docs/field.md says more."},
    {"outliers", AST_CLI_REAL, "SHARE",
     "the least similar members of every cluster get label -1: this share, 0 to 1; auto: rows that are no more similar "
     "to their own cluster than rows are to others",
     AT(options.outliers), 0, 1, .choices = automatic, .not_in = WHOLE, .excludes = "state",
     .more = "docs/outliers.md has the rule. Means stay as they are; a model keeps the thresholds for new rows."},
    {"center", AST_CLI_FLAG, NULL,
     "cluster the rows without their common direction: unit vectors minus their mean, normalised again",
     AT(options.center), .inputs = AST_CLI_POINTS | AST_CLI_SEVERAL,
     .excludes = "axial dip-direction strike-dip trend-plunge frame-axes",
     .more = "The means, also those of --init, are those of the centred rows."},
    {"center-file", AST_CLI_TEXT, "FILE.npy", "write the mean that was subtracted, for assign",
     .writes = AST_CLI_WRITES_ARRAY, .needs = "center", .more = "1 x D: float32 *.npy*, or text."},
    {"metric", AST_CLI_CHOICE, "NAME",
     "plain: rows are compared as they are (the default)\n"
     "local: by a linear map, learned from the rows, that makes clusters round: for embeddings\n"
     "auto: plain, and with --angle auto as tune finds",
     AT(metric), .choices = metrics, .methods = AST_CLI_DP | AST_CLI_SPKM | AST_CLI_MBSPKM | AST_CLI_MOVMF,
     .inputs = AST_CLI_POINTS | AST_CLI_SEVERAL, .excludes = "axial dip-direction strike-dip trend-plunge frame-axes",
     .more = "Angles, means and similarities are those of the mapped rows. docs/metric.md has the rule."},
    {"previous", AST_CLI_NAME, "FILE",
     "an earlier run, whose ids clusters keep: its labels of the same rows, its means, or its model", AT(previous),
     .methods = AST_CLI_ALL & ~AST_CLI_MIXTURES, .not_in = WHOLE, .excludes = "state planes colored report",
     .more =
         "By labels a cluster keeps the id of the one that it shares most rows with, by means that of the nearest one "
         "within the angle. With a model (dp) rows become what it makes of them and keep its clusters where they fit; "
         "the others make new clusters among themselves. New clusters get new ids. docs/lineage.md has the rules."},
    {"top", AST_CLI_COUNT, "N", "print the N largest clusters; JSON has all of them", AT(top), 1, 2147483647,
     .standard = "20"},
    {"representatives", AST_CLI_COUNT, "N", "for each cluster, the N rows that are nearest to its mean",
     AT(options.representatives), 1, 2147483647, .more = "Rows are counted from 0."},
    {"names", AST_CLI_NAME, "FILE", "a text with one name per row: the names of the representatives", AT(names),
     .inputs = AST_CLI_POINTS | AST_CLI_SPARSE | AST_CLI_SEVERAL, .needs = "representatives",
     .excludes = "name-column"},
    {"name-column", AST_CLI_TEXT, "N|NAME",
     "the column of a text table that holds the names, by number or by its name in the header; it is no coordinate",
     AT(reading.source.names), .inputs = AST_CLI_POINTS, .excludes = "transpose"},
    {"id", AST_CLI_TEXT, "NAME",
     "the column of a text table or a .parquet file that identifies the rows: for --output, and for representatives",
     AT(reading.source.names), .inputs = AST_CLI_POINTS | AST_CLI_SEVERAL, .excludes = "name-column transpose"},
    {"output", AST_CLI_TEXT, "FILE",
     "write a table with the id of each row (its number from 0 without --id), its cluster and its similarity to the "
     "mean: .csv, .jsonl or .parquet",
     .writes = AST_CLI_WRITES_OWN, .inputs = AST_CLI_POINTS | AST_CLI_SPARSE | AST_CLI_SEVERAL, .not_in = WHOLE,
     .more = "The similarity is the cosine to the mean of the row's own cluster; missing rows and outliers have none."},
    {"labels", AST_CLI_TEXT, "FILE",
     "write one label per row, point or triangle, -1 for missing ones: int32 .npy, or text; for images, "
     "an array of the image's shape; - is standard output",
     .writes = AST_CLI_WRITES_ARRAY, .more = "Labels are 0 to K-1 in the order in which the clusters were made."},
    {"means", AST_CLI_TEXT, "FILE", "write the means, one per row: float32 .npy, .fvecs, .fbin, or text",
     .writes = AST_CLI_WRITES_ROWS},
    {"model", AST_CLI_NAME, "FILE",
     "write all that it takes to label new rows as these were labelled: see assign --model",
     .writes = AST_CLI_WRITES_OWN,
     .more = "Means, how rows were centred, concentrations and thresholds, in one file. With --names and "
             "--representatives a cluster is named after the row nearest to its mean."},
    {"colored", AST_CLI_TEXT, "FILE.ply",
     "write the cloud or mesh with a colour and a label for each point or triangle", .writes = AST_CLI_WRITES_OWN,
     .inputs = AST_CLI_SOLID, .not_in = AST_CLI_ON_RANKS,
     .more = "With --planes colours and labels are those of the planes."},
    {"planes", AST_CLI_TEXT, "FILE", "cut the cloud or mesh into planes and write them: .json with outlines, or .csv",
     .writes = AST_CLI_WRITES_OWN, .inputs = AST_CLI_SOLID, .not_in = AST_CLI_ON_RANKS,
     .more = "Parallel walls share a direction and are two planes. docs/planes.md describes the files."},
    {"plane-distance", AST_CLI_REAL, "D",
     "how far a point may be from its plane, in the unit of the points (default: from their noise)", AT(plane_distance),
     0, 1e9, .needs = "planes", .more = "A mesh has no noise; its default is 0.0001 of its size."},
    {"plane-area", AST_CLI_REAL, "A", "leave out planes with a smaller area (default: a thousandth of all)",
     AT(plane_area), 0, 1e18, .needs = "planes"},
    {"frame-axes", AST_CLI_FLAG, NULL,
     "three dimensions: print the orthogonal axes nearest to the means, and the rotation that makes them "
     "x, y and z",
     AT(frame_axes), .more = "The rows of the rotation matrix are the axes."},
    AST_CLI_REPORT_OPTION(.writes = AST_CLI_WRITES_OWN),
    AST_CLI_STEREONET_OPTIONS(AT(equal_angle)),
    AST_CLI_MEMORY_OPTION(AT(memory)),
    {"state", AST_CLI_NAME, "FILE", "save the state of the run in this file, and resume from it if it exists",
     .writes = AST_CLI_WRITES_STATE, .methods = AST_CLI_DP | AST_CLI_SPKM, .not_in = AST_CLI_IN_PARTS,
     .excludes = "sample trace",
     .more = "A run that was killed at any moment and is started again, on however many threads or processes, comes to "
             "exactly the labels, means and numbers of one that was not. A state that is damaged or of other points or "
             "options is refused and not touched."},
    {"durable", AST_CLI_FLAG, NULL, "also sync the state to disk, against power cuts", AT(durable), .needs = "state"},
    {0}};

#define MOST 1e9
#define MOST_COUNT 2147483647
static const char *const shapes[] = {"vmf", "kent", NULL};

static const ast_cli_option mixture_options[] = {
    {"shape", AST_CLI_CHOICE, "NAME",
     "of the components: vmf (von Mises-Fisher, round), or kent (elliptical, in three dimensions)", AT(shape),
     .choices = shapes, .standard = "vmf", .methods = AST_CLI_MOVMF, .excludes = "axial",
     .more = "With --axial components are Watson distributions: clusters of axes with kappa above 0, girdles below."},
    {"background", AST_CLI_FLAG, NULL,
     "one more component, uniform on the sphere; points that most probably belong to it are outliers, label -1",
     AT(options.mixture.background), .methods = AST_CLI_MOVMF,
     .more = "The memberships of a point add up to 1 minus the probability that it belongs to the background."},
    {"hard", AST_CLI_FLAG, NULL, "every point belongs to its most probable component alone", AT(options.mixture.hard),
     .methods = AST_CLI_MOVMF},
    {"kappa", AST_CLI_REAL, "X",
     "the concentration of every cluster, if it is known; otherwise each cluster has its own, estimated or sampled",
     AT(options.mixture.kappa), 0, MOST, .methods = AST_CLI_MIXTURES},
    {"tolerance", AST_CLI_REAL, "T", "stop when a pass raises the log-likelihood by less, in nats per point",
     AT(options.mixture.tolerance), 0, MOST, .standard = "1e-6", .methods = AST_CLI_MOVMF},
    {"memberships", AST_CLI_TEXT, "FILE",
     "write how much each point belongs to each cluster, one row per point: float32 .npy, or text",
     .writes = AST_CLI_WRITES_ARRAY, .methods = AST_CLI_MIXTURES, .more = "Missing rows are NaN."},
    {"concentration", AST_CLI_REAL, "A",
     "alpha of the Dirichlet process or, for fsd, of the Dirichlet prior alpha / K of each share; a larger value gives "
     "more "
     "clusters",
     AT(options.sampler.concentration), 1e-9, MOST, .standard = "1", .methods = AST_CLI_SAMPLERS},
    {"samples", AST_CLI_TEXT, "FILE", "write the labels of the samples, one row each: int32 .npy, or text",
     .writes = AST_CLI_WRITES_ARRAY, .methods = AST_CLI_SAMPLERS, .excludes = "restarts",
     .more = "--burn-in and --sample-every say which."},
    {"sample-every", AST_CLI_INT, "N", "every N-th sweep is a sample", AT(options.sampler.sample_every), 1, MOST_COUNT,
     .standard = "1", .methods = AST_CLI_SAMPLERS, .needs = "samples"},
    {"burn-in", AST_CLI_INT, "N",
     "sweeps at the start that do not count in the posterior of the number of clusters (default: a fifth), and that "
     "--samples leaves out (default: none)",
     AT(options.sampler.burn_in), 0, MOST_COUNT, .methods = AST_CLI_SAMPLERS},
    {"trace", AST_CLI_TEXT, "FILE.csv", "write a line per pass: clusters, changes, objective",
     .writes = AST_CLI_WRITES_OWN,
     .more = "The objective is the log-likelihood for `movmf` and the log of the joint density for `fsd` and `crp`."},
    {0}};

static const ast_cli_group mixture_group = {.title = "Options for mixtures and samplers", .options = mixture_options};
static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group},
                                   {&ast_cli_passes_group, .offset = AT(passes)},
                                   {.group = &mixture_group},
                                   {&ast_cli_topics_group, .offset = AT(topics)},
                                   AST_CLI_READING_GROUPS(AT(reading)),
                                   {0}};

static unsigned modes(const void *data) {
    const settings *given = data;
    return (ast_cli_ranks() ? AST_CLI_ON_RANKS : 0) | (isinf(given->options.angle) ? AST_CLI_AUTO : 0);
}

int ast_cli_names_start(const char *init) {
    return init && (strcmp(init, "random") == 0 || strcmp(init, "k-means++") == 0);
}

static int check_method(void *data) {
    const settings *given = data;
    const char *method = ast_cli_batch_names[given->options.method];
    int by_angle = ast_cli_is_by_angle(given->options.method),
        sampler = given->options.method == AST_FSD || given->options.method == AST_CRP,
        named = ast_cli_names_start(given->init);
    if (isinf(given->options.angle) && given->options.method != AST_DP)
        return ast_cli_misuse("--angle auto is for --method dp; %s needs degrees, such as --angle 25", method);
    if (by_angle && named)
        return ast_cli_misuse("--init %s is for methods with --clusters; %s starts from a file or from "
                              "nothing",
                              given->init, method);
    if (given->options.mixture.auto_clusters && given->options.method != AST_MOVMF)
        return ast_cli_misuse("--clusters auto is for --method movmf; %s needs a number, such as --clusters 10",
                              method);
    if (given->options.mixture.auto_clusters && given->options.mixture.hard)
        return ast_cli_misuse("--clusters auto cannot be combined with --hard: joins need soft memberships");
    if (!by_angle && !sampler && !given->options.mixture.auto_clusters && !given->options.clusters &&
        (!given->init || named))
        return ast_cli_misuse("--method %s needs --clusters K, such as --clusters 10", method);
    return -1;
}

/* tune works in content order, and what it describes holds for that order. */
static int check_automatic(void *data) {
    const settings *given = data;
    const char *order = ast_cli_typed(&given->common, "order");
    if (isinf(given->options.angle) && order && given->options.dp.order != AST_ORDER_CONTENT)
        return ast_cli_misuse("--angle auto runs in content order: --order %s cannot be combined with it", order);
    return -1;
}

/* A learned map centres the rows, and is learned in several runs. */
static int check_metric(void *data) {
    settings *given = data;
    if (given->metric != AST_CLI_METRIC_LOCAL)
        return -1;
    if (given->options.center)
        return ast_cli_misuse("--metric local centres the rows itself: leave --center out");
    if (given->init && !ast_cli_names_start(given->init))
        return ast_cli_misuse("--metric local maps the rows, and means in a file have no such map: leave --init out");
    if (ast_cli_target_of(&given->common, "state"))
        return ast_cli_misuse("--metric local takes several runs, and --state keeps one: leave one of them out");
    given->options.metric = AST_METRIC_LOCAL;
    return -1;
}

/* Refuses on several ranks what the rows of the options do not refuse. */
static int check_ranks(void *data) {
    const settings *given = data;
    const char *what = !ast_cli_ranks()                                                 ? NULL
                       : isinf(given->options.angle)                                    ? "--angle auto"
                       : given->options.method == AST_DP && given->options.restarts > 1 ? "--restarts of dp"
                       : given->options.dp.order != AST_ORDER_GIVEN                     ? "--order"
                       : strcmp(given->input, "-") == 0                                 ? "standard input"
                                                                                        : NULL;
    if (!what)
        return -1;
    return ast_cli_misuse("%s works on one rank: start it without mpirun, or with -n 1", what);
}

static int check_files(void *data) {
    const settings *given = data;
    const ast_cli_common *common = &given->common;
    const char *colored = ast_cli_typed(common, "colored"), *planes = ast_cli_typed(common, "planes"),
               *tree = ast_cli_typed(common, "tree"), *layers = ast_cli_typed(common, "layers"),
               *start = ast_cli_names_start(given->init) ? NULL : given->init;
    int code = ast_cli_check_rows_output(common);
    if (code >= 0)
        return code;
    if (given->reading.source.names && strcmp(given->reading.source.names, "0") == 0)
        return ast_cli_misuse("--name-column must be at least 1: columns are counted from 1");
    if (colored && !ast_has_extension(colored, ".ply"))
        return ast_cli_misuse("--colored writes PLY: its name must end in .ply, not be '%s'", colored);
    if (planes && !ast_has_extension(planes, ".json") && !ast_has_extension(planes, ".csv"))
        return ast_cli_misuse("--planes writes JSON or CSV: its name must end in .json or .csv, not be '%s'", planes);
    if (tree && strcmp(tree, "-") != 0 && !ast_has_extension(tree, ".json"))
        return ast_cli_misuse("--tree %s: the name must end in .json", tree);
    if (layers && strcmp(layers, "-") != 0 && !ast_has_extension(layers, ".json"))
        return ast_cli_misuse("--layers %s: the name must end in .json", layers);
    if (layers && !isinf(given->options.angle))
        return ast_cli_misuse("--layers needs --angle auto, which finds the levels that stand out");
    code = ast_cli_check_read("init", start);
    if (code < 0)
        code = ast_cli_stereonet_check(common);
    return code < 0 ? ast_cli_check_target(ast_cli_target_of(common, "state"), start) : code;
}

/* --merge is a number of degrees or a word. */
static int resolve_merge(void *data) {
    settings *given = data;
    const char *text = given->merge_text;
    char *end;
    given->options.merge.angle = NAN;
    given->options.merge.by = given->options.merge.count ? AST_MERGE_COUNT : AST_MERGE_NONE;
    if (!text)
        return -1;
    if (isinf(given->options.angle) && strcmp(text, "evidence") != 0)
        return ast_cli_misuse("--angle auto chooses the angle together with its merging: --merge must be "
                              "evidence with it, not '%s'",
                              text);
    if (strcmp(text, "none") == 0)
        return -1;
    given->options.merge.by = AST_MERGE_EVIDENCE;
    if (strcmp(text, "evidence") == 0)
        return -1;
    given->options.merge.by = AST_MERGE_ANGLE;
    given->options.merge.angle = strtod(text, &end);
    if (end == text || *end || !(given->options.merge.angle >= 0 && given->options.merge.angle <= 180))
        return ast_cli_misuse("--merge must be a number from 0 to 180, evidence or none, not '%s'", text);
    return -1;
}

/* A state keeps no trees. */
static int check_tree(void *data) {
    const settings *given = data;
    const ast_options *options = &given->options;
    if (options->merge.tree && ast_cli_target_of(&given->common, "state") && options->restarts > 1)
        return ast_cli_misuse("--tree does not go with --state and --restarts together: a state keeps no trees "
                              "of runs that are over");
    return -1;
}

/* What follows from more than one option. */
static int resolve(void *data) {
    settings *given = data;
    ast_options *options = &given->options;
    options->seed = given->common.seed;
    options->axial |= given->reading.cloud.undirected;
    options->max_iterations = given->passes.max_iterations;
    options->parallel = (ast_parallel)given->passes.parallel;
    options->bounds = given->passes.bounds;
    options->merge.tree = ast_cli_target_of(&given->common, "tree") || ast_cli_target_of(&given->common, "layers");
    options->mixture.auto_clusters = options->clusters == SIZE_MAX;
    if (options->mixture.auto_clusters)
        options->clusters = 0; /* as many to start from as the library chooses */
    if (given->topics.texts && !options->representatives)
        options->representatives = 3;
    options->mixture.shape = (ast_component_shape)given->shape;
    if (given->shuffle)
        options->dp.order = AST_ORDER_RANDOM;
    else if (!ast_cli_typed(&given->common, "order"))
        options->dp.order = AST_ORDER_GIVEN; /* until the dimension is known */
    if (!ast_cli_target_of(&given->common, "samples"))
        options->sampler.sample_every = 0;
    return -1;
}

static void defaults(void *data) {
    ast_options_init(&((settings *)data)->options);
}

static int find_input(void *data) {
    settings *given = data;
    return ast_cli_reading_find(&given->reading, &given->common, &given->input);
}

static int check_reading(void *data) {
    const settings *given = data;
    return ast_cli_reading_check(&given->reading, &given->common, given->input);
}

static void end(void *data) {
    settings *given = data;
    free(given->line);
    ast_cli_reading_free(&given->reading);
}

static ast_cli_step *const steps[] = {find_input,    resolve,       check_method,        check_automatic,
                                      check_metric,  resolve_merge, check_tree,          check_ranks,
                                      check_reading, check_files,   ast_cli_cluster_run, NULL};

const ast_cli_command ast_cli_cluster = {
    .name = "cluster",
    .summary = "find the clusters of directions",
    .usage =
        "cluster INPUT... --angle DEG|--cosine C [options]\ncluster INPUT... --method spkm --clusters K [options]\n"
        "cluster INPUT... --method mbspkm|movmf|fsd|crp|ospkm|dpmeans [options]",
    .about = "Clusters the rows of INPUT as directions: their length does not matter. Rows that are zero or hold "
             "a NaN are missing and get the label -1. The same input and options give the same labels, bit for "
             "bit, on any number of threads and on any processor. INPUT may also be a depth image (16-bit PNG or "
             "PGM, or a scene of the NYU v2 .mat), a cloud or a mesh (PCD, PLY, OBJ, STL), whose surface normals "
             "are the points; faces of a mesh count by their area. Several files of one binary format, such as "
             ".npy, or a folder of them (9.npy before 10.npy), are one table, a file's rows behind those of the file "
             "before.",
    .more = "The clusters are printed largest first. *alpha95* is the 95% confidence cone of the mean, in degrees. "
            "docs/clouds-and-field.md says how dips, trends and plunges are printed.",
    .examples = "asterism cluster normals.npy --angle 25\n"
                "asterism cluster normals.npy --angle 25 --labels labels.npy --means means.npy --json\n"
                "asterism cluster vectors.npy --method mbspkm --clusters 1000 --labels labels.npy\n"
                "asterism cluster documents.mtx --method spkm --clusters 3 --tf-idf --restarts 10\n"
                "asterism cluster depth.png --camera kinect --angle 60 --labels labels.npy\n"
                "asterism cluster room.pcd --angle 30 --planes planes.csv --colored planes.ply\n"
                "asterism cluster joints.txt --dip-direction --axial --angle 60\n"
                "asterism cluster embeddings.npy --method spkm --clusters 5000 --state run.state\n"
                "asterism cluster embeddings.npy --angle 40 --labels labels.npy --memory 2G\n"
                "asterism cluster embeddings.npy --cosine 0.5 --center --representatives 3 --names titles.txt\n"
                "asterism cluster embeddings.npy --angle auto --texts titles.txt.gz --report topics.html\n"
                "zcat poles.csv.gz | asterism cluster - --format csv --angle 20 --labels -",
    .input = "an INPUT file, or - for standard input",
    .many = 1,
    .inputs = AST_CLI_ANY_INPUT,
    .methods = &ast_cli_batch_methods,
    .method = AT(options.method),
    .uses = uses,
    .modes = modes,
    .job = sizeof(settings),
    .defaults = defaults,
    .steps = steps,
    .end = end};
