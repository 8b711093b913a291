/* SPDX-License-Identifier: MIT
 *
 * Any bytes as the words of a field notebook: two words, one word, and the name of a column. */
#include "fuzz.h"

#include <asterism_field.h>
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *words = malloc(size + 2);
    require(words != NULL);
    memcpy(words, bytes, size);
    words[size] = words[size + 1] = 0;
    const char *second = words + strlen(words) + 1;
    for (int notation = 0; notation <= 5; notation++) {
        double azimuth = 0, inclination = 0;
        const char *problem = ast_field_read((ast_notation)notation, words, second, &azimuth, &inclination);
        require(!problem || (*problem && !strchr(problem, '\n')));
        (void)ast_field_read((ast_notation)notation, words, NULL, &azimuth, &inclination);
    }
    (void)ast_field_column_of(words);
    free(words);
    return 0;
}
