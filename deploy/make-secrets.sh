#!/bin/sh
# Makes the secrets of an installation in deploy/secrets, once: what is there stays. With "cluster" also those of a KurrentDB of three nodes.
# The folder is closed to everybody else; its files are open, because a container's user reads them under a uid of its own.
set -eu
umask 022
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets
cd secrets

# Writes standard input to a file that is not there yet, whole or not at all.
keep() {
  [ -e "$1" ] && { cat >/dev/null; return; }
  cat >"$1.new"
  [ -s "$1.new" ] || { rm "$1.new"; echo "deploy/secrets/$1 could not be made" >&2; exit 1; }
  mv "$1.new" "$1"
  echo "made deploy/secrets/$1"
}
password() { openssl rand -hex 24; }

openssl rand -base64 32 | keep master-key
openssl genpkey -algorithm ed25519 | keep signing-key
password | keep postgres-password
echo "postgres://palimpsest:$(cat postgres-password)@postgres:5432/palimpsest" | keep database-url
# A provider's key goes in here. An empty file: the provider is not called.
[ -e openai-api-key ] || : >openai-api-key
[ -e anthropic-api-key ] || : >anthropic-api-key

[ "${1:-}" = cluster ] || exit 0

# An authority of this cluster alone, and a certificate for each node. KurrentDB takes nodes for its own by the common name.
[ -e kurrentdb-ca.key ] || openssl genpkey -algorithm rsa -pkeyopt rsa_keygen_bits:3072 2>/dev/null | keep kurrentdb-ca.key
[ -e kurrentdb-ca.crt ] || openssl req -x509 -new -key kurrentdb-ca.key -days 3650 -subj '/O=Palimpsest/CN=KurrentDB CA' \
  -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign,cRLSign | keep kurrentdb-ca.crt
for node in kurrentdb kurrentdb-2 kurrentdb-3; do
  [ -e "$node.key" ] || openssl genpkey -algorithm rsa -pkeyopt rsa_keygen_bits:3072 2>/dev/null | keep "$node.key"
  [ -e "$node.crt" ] || {
    openssl req -new -key "$node.key" -subj '/CN=eventstoredb-node' -out "$node.csr"
    printf '%s\n' 'basicConstraints=critical,CA:false' 'keyUsage=critical,digitalSignature,keyEncipherment' \
      'extendedKeyUsage=serverAuth,clientAuth' "subjectAltName=DNS:$node,DNS:localhost,IP:127.0.0.1" >"$node.ext"
    openssl x509 -req -in "$node.csr" -CA kurrentdb-ca.crt -CAkey kurrentdb-ca.key -CAcreateserial -days 825 \
      -extfile "$node.ext" 2>/dev/null | keep "$node.crt"
    rm "$node.csr" "$node.ext"
  }
done
# Read by KurrentDB at its very first start, and from the environment alone.
printf 'KURRENTDB_DEFAULT_ADMIN_PASSWORD=%s\nKURRENTDB_DEFAULT_OPS_PASSWORD=%s\n' "$(password)" "$(password)" | keep kurrentdb.env
admin=$(sed -n 's/^KURRENTDB_DEFAULT_ADMIN_PASSWORD=//p' kurrentdb.env)
echo "esdb://admin:$admin@kurrentdb:2113,kurrentdb-2:2113,kurrentdb-3:2113?tls=true&tlsCAFile=/run/secrets/kurrentdb-ca.crt&nodePreference=leader" |
  keep eventstore-url
