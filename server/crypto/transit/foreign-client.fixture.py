"""The judge of foreign-clients.test.ts: reads one JSON document from stdin, writes one to stdout. Uses nothing but pyca/cryptography."""
import base64
import json
import os
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

HASHES = {"sha256": hashes.SHA256, "sha384": hashes.SHA384, "sha512": hashes.SHA512}


def b64(data):
    return base64.b64encode(data).decode()


def unb64(text):
    return base64.b64decode(text)


def b64u(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unb64u(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def scheme(item):
    kind, digest = item["type"].split("-")[0], item["hash"] and HASHES[item["hash"]]()
    if kind == "ecdsa":
        return (ec.ECDSA(digest),)
    if kind == "rsa":
        pss = padding.PSS(mgf=padding.MGF1(digest), salt_length=digest.digest_size)
        return (pss if item["padding"] == "pss" else padding.PKCS1v15(), digest)
    return ()


def verify(item):
    key = serialization.load_pem_public_key(item["pem"].encode())
    try:
        key.verify(unb64(item["signature"]), unb64(item["data"]), *scheme(item))
        return True
    except InvalidSignature:
        return False


KEYS = {}


def private_key(kind):
    if kind not in KEYS:
        if kind.startswith("rsa"):
            KEYS[kind] = rsa.generate_private_key(public_exponent=65537, key_size=int(kind[4:]))
        elif kind == "ed25519":
            KEYS[kind] = ed25519.Ed25519PrivateKey.generate()
        else:
            KEYS[kind] = ec.generate_private_key(ec.SECP384R1() if kind.endswith("384") else ec.SECP256R1())
    return KEYS[kind]


def pkcs8(key):
    return b64(key.private_bytes(serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))


def sign(item):
    key = private_key(item["type"])
    return {"secret": pkcs8(key), "signature": b64(key.sign(unb64(item["data"]), *scheme(item)))}


def mac(item):
    digest = hmac.HMAC(unb64(item["key"]), HASHES[item["hash"]]())
    digest.update(unb64(item["data"]))
    return b64(digest.finalize())


def decrypt(item):
    raw = unb64(item["ciphertext"].split(":")[2])
    aad = unb64(item["aad"])
    return b64(AESGCM(unb64(item["key"])).decrypt(raw[:12], raw[28:] + raw[12:28], aad))


def encrypt(item):
    iv = os.urandom(12)
    sealed = AESGCM(unb64(item["key"])).encrypt(iv, unb64(item["plaintext"]), unb64(item["aad"]))
    return "svc:v1:" + b64(iv + sealed[-16:] + sealed[:-16])


def content_key(mine, theirs, point, tenant, role):
    info = f"kc/1|tenant={tenant}|role={role}".encode()
    return AESGCM(HKDF(algorithm=hashes.SHA256(), length=32, salt=point, info=info).derive(mine.exchange(ec.ECDH(), theirs)))


def point_of(key):
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def open_portable(item):
    header, ciphertext, _ = item["text"].rsplit(":", 2)
    point, iv = (unb64u(part) for part in header.split(":")[4:6])
    key = serialization.load_der_private_key(unb64(item["secret"]), None)
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    return b64(content_key(key, theirs, point, item["tenant"], item["role"]).decrypt(iv, unb64u(ciphertext), header.encode()))


def seal_portable(item):
    key, iv = ec.generate_private_key(ec.SECP256R1()), os.urandom(12)
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64u(item["point"]))
    point = point_of(key.public_key())
    header = ":".join(["kc", "1", "s", b64u(item["key_ref"].encode()), b64u(point), b64u(iv)])
    sealed = content_key(key, theirs, point, item["tenant"], item["role"]).encrypt(iv, unb64(item["plaintext"]), header.encode())
    return f"{header}:{b64u(sealed)}:$"


TASKS = dict(verify=verify, sign=sign, mac=mac, decrypt=decrypt, encrypt=encrypt, open=open_portable, seal=seal_portable)
print(json.dumps([TASKS[item["task"]](item) for item in json.load(sys.stdin)]))
