class Asterism < Formula
  desc "Clusters of directions, however many there are"
  homepage "https://example.org/asterism"
  url "https://example.org/asterism/asterism-0.2.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "node" => :build
  depends_on "pkg-config" => :build
  depends_on "hdf5"
  depends_on "jansson"
  depends_on "libpng"
  depends_on "lz4"
  depends_on "snappy"
  depends_on "zstd"

  def install
    system "cmake", "-S", ".", "-B", "build/brew", "-DBUILD_TESTING=OFF", "-DASTERISM_BENCH=OFF", *std_cmake_args
    system "cmake", "--build", "build/brew"
    system "cmake", "--install", "build/brew"
  end

  test do
    system bin/"asterism", "sample", "--points", "20000", "--dimension", "3", "--clusters", "12", "--kappa", "200",
           "--separation", "30", "--output", "points.npy", "--quiet"
    assert_match "12", shell_output("#{bin}/asterism cluster points.npy --angle 25")
  end
end
