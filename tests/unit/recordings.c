/* SPDX-License-Identifier: MIT
 *
 * Recordings of streams: what a page needs is there and is read back, however short or long the stream was; and no
 * allocation that fails leaves anything behind. */
#include "formats/picture.h"
#include "pages_common.h"
#include "reference/no_memory.h"

#include <recording.h>

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

enum { SIDE = 60, PIXELS = SIDE * SIDE };

/* A frame of an image whose left half is cluster 3 and whose right half is cluster 5, a row of it missing. */
typedef struct scene {
    float points[PIXELS][3];
    int32_t labels[PIXELS];
    uint16_t depth[PIXELS];
    float means[2][3];
    ast_tracked clusters[2];
    ast_frame frame;
    ast_points view;
    ast_depth_image image;
    ast_thumbnail small;
    ast_recorded recorded;
} scene;

static void make_scene(scene *out) {
    memset(out, 0, sizeof *out);
    out->means[0][0] = out->means[1][2] = 1;
    for (size_t i = 0; i < PIXELS; i++) {
        int right = i % SIDE >= SIDE / 2;
        out->labels[i] = i < SIDE ? -1 : right ? 5 : 3;
        out->points[i][right ? 2 : 0] = i < SIDE ? NAN : 0.8F;
        out->points[i][1] = 0.6F;
        out->depth[i] = 2000;
    }
    size_t half = (PIXELS - SIDE) / 2;
    out->clusters[0] = (ast_tracked){3, AST_BORN, 0, half, 0.5, 1, out->means[0], 2, -1};
    out->clusters[1] = (ast_tracked){5, AST_SEEN, 0, half, 0.5, 1, out->means[1], 2, -1};
    out->frame = (ast_frame){
        .size = sizeof(ast_frame), .points = PIXELS, .missing = SIDE, .objective = 3, .seconds = 0.001, .clusters = 2};
    out->view = ast_points_f4(out->points[0], PIXELS, 3);
    out->image = (ast_depth_image){.size = sizeof(ast_depth_image), out->depth, SIDE, SIDE, SIDE * sizeof(uint16_t)};
    out->small = (ast_thumbnail){out->labels, SIDE, SIDE, &out->image, 1000};
    out->recorded =
        (ast_recorded){&out->frame, "a</script>", out->clusters, 2, &out->view, out->labels, &out->small, NULL, NULL};
}

static const ast_page_head plain_head = {.title = "stream x", .command = "asterism stream x", .run = "r"};

static json_t *page_of(ast_recording *recording, size_t *size) {
    ast_text json = {0};
    assert_true(ast_recording_json(recording, false, &json, NULL));
    json_t *page = parsed(json.bytes, json.size);
    *size = json.size;
    ast_text_free(&json);
    return page;
}

static void add(ast_recording *recording, scene *from, uint64_t number) {
    ast_format_error error;
    from->frame.frame = number;
    if (!ast_recording_add(recording, &from->recorded, 3, NULL, &error))
        fail_msg("%s", error.text);
}

/* The picture has the colours of the clusters where they are, and black where nothing is. */
static void check_picture(const char *url) {
    static const char head[] = "data:image/png;base64,";
    ast_picture picture = {0};
    size_t size;
    assert_memory_equal(url, head, sizeof head - 1);
    unsigned char *png = decoded(url + sizeof head - 1, &size);
    decode_picture(&picture, png, size);
    assert_true(picture.width == SIDE && picture.height == SIDE);
    for (size_t i = 0; i < PIXELS; i++) {
        int32_t id = i < SIDE ? -1 : i % SIDE < SIDE / 2 ? 3 : 5;
        ast_colour colour = ast_palette(id);
        int grey = id < 0 ? 0 : 127; /* half way, at two metres */
        unsigned char expected[3] = {colour.red, colour.green, colour.blue};
        for (int c = 0; c < 3; c++)
            assert_int_equal(picture.rgb[3 * i + (size_t)c], id < 0 ? 0 : (expected[c] * 166 + grey * 90 + 128) / 256);
    }
    ast_pixels_free(&picture);
    free(png);
}

static void check_sample(const json_t *sample, size_t expected) {
    size_t size, label_size;
    unsigned char *xyz = decoded(json_string_value(json_object_get(sample, "xyz")), &size);
    unsigned char *labels = decoded(json_string_value(json_object_get(sample, "labels")), &label_size);
    assert_int_equal(size, 6 * expected);
    assert_int_equal(label_size, 4 * expected);
    for (size_t i = 0; i < expected; i++) {
        int32_t label = label_of(labels, i);
        assert_true(label == 3 || label == 5);
        assert_float_equal(coordinate(xyz, i, label == 3 ? 0 : 2), 0.8, 1e-4);
    }
    free(xyz);
    free(labels);
}

/* One frame: everything about it, and the same as a message to browsers. */
static void one_frame(void **state) {
    (void)state;
    scene from;
    ast_format_error error;
    ast_shared_text *parcel;
    size_t size;
    make_scene(&from);
    ast_recording *recording = ast_recording_open(&plain_head);
    assert_true(ast_recording_add(recording, &from.recorded, 3, &parcel, &error));
    json_t *page = page_of(recording, &size), *frames = json_object_get(page, "frames");
    assert_int_equal(json_array_size(frames), 1);
    json_t *frame = json_array_get(frames, 0), *clusters = json_object_get(frame, "clusters");
    assert_string_equal(json_string_value(json_object_get(frame, "source")), "a</script>");
    assert_int_equal(number_of(frame, "points"), PIXELS);
    assert_int_equal(number_of(frame, "missing"), SIDE);
    assert_float_equal(number_of(frame, "milliseconds"), 1, 1e-9);
    assert_int_equal(json_array_size(clusters), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(clusters, 0), "event")), "born");
    assert_float_equal(number_of(json_array_get(clusters, 1), "spread"), acos(0.8) * 180 / acos(-1), 1e-2);
    check_picture(json_string_value(json_object_get(frame, "image")));
    json_t *sample = json_object_get(frame, "sample");
    size_t shown = strlen(json_string_value(json_object_get(sample, "xyz"))) / 8;
    assert_true(shown > AST_FRAME_SAMPLE * 9 / 10 && shown <= AST_FRAME_SAMPLE);
    check_sample(sample, shown);
    assert_int_equal(json_object_size(json_object_get(page, "colors")), 2);

    json_t *message = parsed(parcel->text.bytes, parcel->text.size);
    assert_string_equal(json_string_value(json_object_get(message, "type")), "frame");
    assert_true(json_equal(json_object_get(message, "data"), frame));
    assert_true(json_equal(json_object_get(message, "colors"), json_object_get(page, "colors")));
    json_decref(message);
    ast_shared_text_release(parcel);
    json_decref(page);
    ast_recording_close(recording);
}

/* No image, no points, one cluster, none: a page all the same. */
static void little(void **state) {
    (void)state;
    scene from;
    size_t size;
    make_scene(&from);
    ast_recording *recording = ast_recording_open(&plain_head);
    json_t *page = page_of(recording, &size);
    assert_int_equal(json_array_size(json_object_get(page, "frames")), 0);
    json_decref(page);
    from.recorded.image = NULL;
    from.recorded.count = 1;
    add(recording, &from, 0);
    from.recorded.points = NULL;
    from.recorded.source = NULL;
    from.recorded.count = 0;
    add(recording, &from, 1);
    page = page_of(recording, &size);
    json_t *first = json_array_get(json_object_get(page, "frames"), 0);
    json_t *second = json_array_get(json_object_get(page, "frames"), 1);
    assert_null(json_object_get(first, "image"));
    assert_non_null(json_object_get(first, "sample"));
    assert_null(json_object_get(second, "sample"));
    assert_true(json_is_null(json_object_get(second, "source")));
    json_decref(page);
    ast_recording_close(recording);
}

/* A long stream is thinned, says so, stays small, and never loses its first and its newest frame. */
static void long_streams(void **state) {
    (void)state;
    static const uint64_t lengths[] = {300, 1000, 1200};
    char name[3001]; /* frames that say much, so that few of them fill the room */
    scene from;
    make_scene(&from);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (size_t s = 0; s < ITEMS(lengths); s++) {
        size_t size, pictures = 0, index;
        json_t *frame;
        ast_recording *recording = ast_recording_open(&plain_head);
        from.recorded.source = s == 2 ? name : "short";
        for (uint64_t i = 0; i < lengths[s]; i++)
            add(recording, &from, i);
        json_t *page = page_of(recording, &size), *frames = json_object_get(page, "frames");
        assert_true(size < 14 * 1000 * 1000);
        double last = -1;
        json_array_foreach(frames, index, frame) {
            assert_true(number_of(frame, "frame") > last);
            last = number_of(frame, "frame");
            pictures += json_object_get(frame, "image") != NULL;
        }
        assert_true(number_of(json_array_get(frames, 0), "frame") == 0 && last == (double)lengths[s] - 1);
        assert_non_null(json_object_get(json_array_get(frames, json_array_size(frames) - 1), "image"));
        assert_true((pictures == lengths[s]) == (s == 0));
        assert_true(pictures > 150);
        assert_true(has_note(page, "frames has points and a picture") == (s > 0));
        assert_true((json_array_size(frames) == lengths[s]) == (s < 2));
        assert_true(has_note(page, "frames is shown") == (s == 2));
        json_decref(page);
        ast_recording_close(recording);
    }
}

/* 10,000 clusters in every frame: the largest are listed, also one that has late rows only. */
static void many_clusters(void **state) {
    (void)state;
    enum { MANY = 10000, LATE = 7 };
    scene from;
    size_t size;
    make_scene(&from);
    ast_tracked *clusters = calloc(MANY, sizeof *clusters);
    for (int32_t i = 0; i < MANY; i++) {
        size_t count = i == LATE ? MANY : i % 2 ? 0 : (size_t)i;
        clusters[i] = (ast_tracked){i, i % 2 ? AST_UNSEEN : AST_SEEN, 0, count, 0.1, 1, from.means[0], 2, -1};
    }
    from.recorded.clusters = clusters;
    from.recorded.count = MANY;
    ast_recording *recording = ast_recording_open(&plain_head);
    for (uint64_t i = 0; i < 100; i++)
        add(recording, &from, i);
    json_t *page = page_of(recording, &size), *frames = json_object_get(page, "frames");
    assert_true(size < 14 * 1000 * 1000);
    json_t *listed = json_object_get(json_array_get(frames, 0), "clusters");
    assert_int_equal(json_array_size(listed), AST_FRAME_CLUSTERS);
    assert_int_equal(number_of(json_array_get(listed, AST_FRAME_CLUSTERS - 1), "id"), MANY - 2);
    assert_int_equal(number_of(json_array_get(listed, 0), "id"), LATE);
    assert_int_equal(number_of(json_array_get(listed, 1), "id"), MANY - 2 * (AST_FRAME_CLUSTERS - 1));
    assert_int_equal(json_object_size(json_object_get(page, "colors")), AST_FRAME_CLUSTERS);
    assert_true(has_note(page, "1000 largest"));
    json_decref(page);
    free(clusters);
    ast_recording_close(recording);
}

/* ---- Every allocation fails once --------------------------------------------------------------------------------- */

static bool try_recording(scene *from, ast_format_error *error) {
    ast_shared_text *parcel = NULL;
    ast_text json = {0};
    float wide[2][5] = {{1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}};
    ast_points points = ast_points_f4(wide[0], 2, 5);
    ast_recording *recording = ast_recording_open(&plain_head);
    bool good = recording && ast_recording_project(recording, &points, error);
    ast_recording_close(recording);
    recording = good ? ast_recording_open(&plain_head) : NULL;
    good = recording != NULL;
    for (uint64_t i = 0; i < 3 && good; i++) {
        good = ast_recording_add(recording, &from->recorded, 3, &parcel, error);
        if (good)
            ast_shared_text_release(parcel);
    }
    good = good && ast_recording_json(recording, true, &json, NULL);
    ast_text_free(&json);
    ast_recording_close(recording);
    return good;
}

static bool try_batch(ast_format_error *error) {
    float rows[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 1}};
    int32_t labels[3] = {0, 0, -1};
    unsigned char rgb[12] = {0};
    ast_picture image = {.rgb = rgb, .width = 2, .height = 2};
    ast_cluster_info cluster = {.count = 2, .mean = rows[0]};
    ast_points points = ast_points_f4(rows[0], 3, 4);
    ast_page_head head = plain_head;
    ast_batch_page page = {.head = &head,
                           .points = &points,
                           .labels = labels,
                           .label_count = 3,
                           .clusters = &cluster,
                           .count = 1,
                           .labels_name = "l",
                           .seed = 1,
                           .image = &image};
    ast_text json = {0}, html = {0};
    bool good = ast_batch_page_json(&page, &json, error) &&
                ast_page_fill("<!--asterism:data-->", strlen("<!--asterism:data-->"), &json, &html);
    ast_text_free(&json);
    ast_text_free(&html);
    return good;
}

static bool try_charts(ast_format_error *error) {
    ast_chart_page charts = {0};
    ast_text json = {0};
    ast_chart_page_svg(&charts, "<svg><title>One</title></svg>");
    ast_chart_page_csv(&charts, "t", "a,b\nx,1\n");
    bool good = ast_chart_page_json(&charts, &plain_head, "Take it.", &json, error);
    ast_text_free(&json);
    ast_chart_page_free(&charts);
    return good;
}

static void no_memory(void **state) {
    (void)state;
    scene from;
    ast_format_error error;
    bool good = false;
    make_scene(&from);
    for (long n = 1; !good; n++) {
        assert_true(n < 2000);
        snprintf(error.text, sizeof error.text, "no memory");
        atomic_store(&ast_test_countdown, n);
        good = try_recording(&from, &error) && try_batch(&error) && try_charts(&error);
        bool reached = atomic_exchange(&ast_test_countdown, 0) <= 0;
        if (good == reached || !strcasestr(error.text, "memory"))
            fail_msg("allocation %ld: good %d, reached %d, %s", n, good, reached, error.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_frame), cmocka_unit_test(little),
                                       cmocka_unit_test(long_streams), cmocka_unit_test(many_clusters),
                                       cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
