// Signatures are those that Amazon publishes, and digests those of the standards.
#include "backend/s3/signature.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/s3/sha256.hpp"

namespace venturi::backend::s3 {
namespace {

const std::string kEmptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const std::string kHost = "examplebucket.s3.amazonaws.com";

/// The examples in Amazon's manual of S3, "Authenticating Requests: Using the Authorization
/// Header".
const Credentials kExampleKeys{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
const SigningScope kExampleScope{"20130524T000000Z", "us-east-1"};

HttpRequest example(std::string method, std::string path, std::vector<Field> query,
                    std::vector<Field> more, std::string hash = kEmptyHash) {
  std::vector<Field> headers{
      {"Host", kHost}, {"x-amz-date", kExampleScope.time}, {"x-amz-content-sha256", hash}};
  headers.insert(headers.end(), more.begin(), more.end());
  return {std::move(method), std::move(path), std::move(query), std::move(headers),
          std::move(hash)};
}

TEST(Signature, ReadsARangeOfAnObject) {
  const HttpRequest request = example("GET", "/test.txt", {}, {{"Range", "bytes=0-9"}});
  EXPECT_EQ(signature(request, kExampleScope, kExampleKeys),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(authorization(request, kExampleScope, kExampleKeys),
            "AWS4-HMAC-SHA256 "
            "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(Signature, WritesAnObjectWhoseKeyIsEncoded) {
  const HttpRequest request = example(
      "PUT", "/test$file.text", {},
      {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
      hex_of(sha256("Welcome to Amazon S3.")));
  EXPECT_EQ(signature(request, kExampleScope, kExampleKeys),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(Signature, AsksForAPropertyOfABucket) {
  const HttpRequest request = example("GET", "/", {{"lifecycle", ""}}, {});
  EXPECT_EQ(signature(request, kExampleScope, kExampleKeys),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(Signature, ListsABucket) {
  const HttpRequest request = example("GET", "/", {{"prefix", "J"}, {"max-keys", "2"}}, {});
  EXPECT_EQ(signature(request, kExampleScope, kExampleKeys),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

/// Amazon's test suite of the scheme itself, of a service that is called `service`.
const Credentials kSuiteKeys{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
const SigningScope kSuiteScope{"20150830T123600Z", "us-east-1", "service"};

HttpRequest of_suite(std::vector<Field> query) {
  return {"GET",
          "/",
          std::move(query),
          {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", kSuiteScope.time}},
          kEmptyHash};
}

TEST(Signature, IsThatOfTheTestSuite) {
  EXPECT_EQ(signature(of_suite({}), kSuiteScope, kSuiteKeys),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  EXPECT_EQ(
      signature(of_suite({{"Param2", "value2"}, {"Param1", "value1"}}), kSuiteScope, kSuiteKeys),
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

TEST(Signature, DoesNotDependOnTheOrderOfHeadersAndParameters) {
  std::mt19937_64 random(7);
  std::vector<Field> query;
  std::vector<Field> headers{{"host", kHost}, {"x-amz-date", kExampleScope.time}};
  for (int i = 0; i < 9; ++i) {
    query.push_back({"key" + std::to_string(i / 2), "value " + std::to_string(i)});
    headers.push_back({"X-Header-" + std::to_string(i), " a  b\t" + std::to_string(i) + " "});
  }
  HttpRequest request{"GET", "/a b/ü+~", query, headers, kEmptyHash};
  const std::string expected = canonical_request(request);
  EXPECT_NE(expected.find("/a%20b/%C3%BC%2B~\n"), std::string::npos);
  EXPECT_NE(expected.find("x-header-0:a b 0\n"), std::string::npos);
  for (int i = 0; i < 50; ++i) {
    std::shuffle(request.query.begin(), request.query.end(), random);
    std::shuffle(request.headers.begin(), request.headers.end(), random);
    EXPECT_EQ(canonical_request(request), expected);
  }
}

TEST(Signature, ChangesWithEveryPartOfTheRequest) {
  const HttpRequest request = example("GET", "/k", {{"a", "b"}}, {{"Range", "bytes=0-9"}});
  const std::string own = signature(request, kExampleScope, kExampleKeys);
  const auto differs = [&](auto change) {
    HttpRequest other = request;
    SigningScope scope = kExampleScope;
    Credentials keys = kExampleKeys;
    change(other, scope, keys);
    return signature(other, scope, keys) != own;
  };
  EXPECT_TRUE(differs([](auto& r, auto&, auto&) { r.method = "PUT"; }));
  EXPECT_TRUE(differs([](auto& r, auto&, auto&) { r.path = "/K"; }));
  EXPECT_TRUE(differs([](auto& r, auto&, auto&) { r.query[0].value = "c"; }));
  EXPECT_TRUE(differs([](auto& r, auto&, auto&) { r.headers.back().value = "bytes=0-8"; }));
  EXPECT_TRUE(differs([](auto& r, auto&, auto&) { r.payload_hash = "UNSIGNED-PAYLOAD"; }));
  EXPECT_TRUE(differs([](auto&, auto& s, auto&) { s.time = "20130525T000000Z"; }));
  EXPECT_TRUE(differs([](auto&, auto& s, auto&) { s.region = "eu-west-1"; }));
  EXPECT_TRUE(differs([](auto&, auto&, auto& k) { k.secret.back() = 'Z'; }));
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(hex_of(sha256("")), kEmptyHash);
  EXPECT_EQ(hex_of(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_of(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  std::mt19937_64 random(11);
  for (std::size_t bytes = 0; bytes < 200; ++bytes) {
    std::string message;
    for (std::size_t i = 0; i < bytes; ++i) message.push_back(static_cast<char>(random()));
    Sha256 sum;
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t piece = std::min<std::size_t>(bytes - done, random() % 70);
      sum.update(std::string_view(message).substr(done, piece));
      done += piece;
    }
    EXPECT_EQ(sum.finish(), sha256(message)) << bytes;
  }
}

TEST(Hmac, IsThatOfTheStandard) {
  EXPECT_EQ(hex_of(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex_of(hmac_sha256(std::string(131, '\xaa'),
                               "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace venturi::backend::s3
