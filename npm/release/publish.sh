#!/bin/sh
# Publishes the tarballs of a folder, the main package last: what it names is there when it is installed.
#
# npm refuses a version that the registry has. Where the registry has the same bytes, that is a success, so a release
# that stopped in the middle is finished by starting it again.
set -eu
cd "$1"
for tarball in onloop-[a-z]*.tgz onloop-[0-9]*.tgz; do
    package=$(tar -xzOf "$tarball" package/package.json | node -p '({ name, version } = JSON.parse(fs.readFileSync(0)), `${name}@${version}`)')
    integrity=sha512-$(openssl dgst -sha512 -binary "$tarball" | base64 -w 0)
    # npm takes `folder/file` for a repository on GitHub.
    npm publish "./$tarball" || [ "$(npm view "$package" dist.integrity)" = "$integrity" ] || {
        echo "error: $package is not published with these bytes" >&2
        exit 1
    }
done
