/* SHA-256 against the examples of FIPS 180-4 and its own pieces: however a text is cut, the digest is one. */
#include "rf_test.h"

#include "core/core.h"

static void digest(char out[RF_SHA256_SIZE], const char *text, size_t size, size_t piece) {
  RfSha256 sha;
  rf_sha256_init(&sha);
  for (size_t at = 0; at < size; at += piece)
    rf_sha256_add(&sha, text + at, size - at < piece ? size - at : piece);
  rf_sha256_text(&sha, out);
}

static void known_digests(void **state) {
  (void)state;
  static const char *const known[][2] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
  char out[RF_SHA256_SIZE];
  for (size_t k = 0; k < 3; k++) {
    digest(out, known[k][0], strlen(known[k][0]), 64);
    assert_string_equal(out, known[k][1]);
  }
}

static void a_million_letters(void **state) {
  (void)state;
  char *text = malloc(1000000), out[RF_SHA256_SIZE];
  assert_non_null(text);
  memset(text, 'a', 1000000);
  digest(out, text, 1000000, 1000000);
  assert_string_equal(out, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  free(text);
}

static void pieces_do_not_matter(void **state) {
  (void)state;
  char text[300], whole[RF_SHA256_SIZE], out[RF_SHA256_SIZE];
  for (size_t k = 0; k < sizeof text; k++) text[k] = (char)(k * 7);
  for (size_t size = 0; size <= sizeof text; size++) {
    digest(whole, text, size, sizeof text);
    for (size_t piece = 1; piece < 70; piece += 13) {
      digest(out, text, size, piece);
      assert_string_equal(out, whole);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known_digests), cmocka_unit_test(a_million_letters),
                                     cmocka_unit_test(pieces_do_not_matter)};
  return cmocka_run_group_tests_name("core/sha256", tests, NULL, NULL);
}
