# The library alone: headers, one of the two libraries, find_package(asterism).
vcpkg_download_distfile(archive
  URLS "https://example.org/asterism/asterism-${VERSION}.tar.gz"
  FILENAME "asterism-${VERSION}.tar.gz"
  SHA512 0)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${archive}")
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DBUILD_TESTING=OFF -DASTERISM_BENCH=OFF -DASTERISM_LIBRARY_ONLY=ON -DASTERISM_INSTALL_LIBRARY=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/asterism)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
