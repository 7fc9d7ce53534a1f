import type { Descriptions } from '#server/kernel/descriptions.ts';

const batch =
  'Send up to 250 items in `batch` instead of one: each is answered by itself, in order, and the call succeeds if any of them does.';

export const operations: NonNullable<Descriptions['operations']> = {
  'crypto_keys.encrypt': {
    description: `Encrypts up to 1 MiB with AES-256-GCM under the active version. ${batch}`,
    success: 'The ciphertext, which names the version.',
  },
  'crypto_keys.decrypt': {
    description: `Decrypts a ciphertext. The plaintext leaves only after the audit log has its entry. Tokens of people never have this right. ${batch}`,
    success: 'The plaintext.',
  },
  'crypto_keys.rewrap': {
    description: `Decrypts a ciphertext and encrypts it again under the active version; the plaintext never leaves the service. Use it after a rotation. ${batch}`,
    success: 'The new ciphertext.',
  },
  'crypto_keys.datakey': {
    description:
      'Generates a random key for encryption on your side, encrypted under the active version. Keep the ciphertext beside your data and decrypt it when you need the key. `include_plaintext` also takes `transit:decrypt`.',
    success: 'The encrypted data key, and the key itself if it was asked for.',
  },
  'crypto_keys.sign': {
    description: `Signs data, or computes its HMAC, with the active version. ECDSA signatures are DER, Ed25519 signatures 64 bytes, HMACs the whole digest. ${batch}`,
    success: 'The signature, which names the version.',
  },
  'crypto_keys.verify': {
    description: `Verifies a signature or an HMAC. A signature without its version is compared with every version that still verifies. A signature that doesn't match is no error: \`valid\` is \`false\`. ${batch}`,
    success: 'Whether the signature is valid, and with which version.',
  },
  'crypto_keys.jwt': {
    description:
      'Signs a JWT. Claims are signed as you send them: digits of numbers, names and their order stay. `iat` is added at the end when it is missing, and `exp` when you send `ttl_seconds`; no other claim is. `kid` names the key and its version.',
    success: 'The token.',
  },
  'crypto_keys.verify_jwt': {
    description:
      "Verifies a JWT of this key: form, algorithm, version, signature, times, and the claims you expect. A token that isn't valid is no error: `error` says why.",
    success: 'The claims of a valid token as they were signed, or why it is not valid.',
  },
  'crypto_keys.webhook_sign': {
    description: 'Signs the body of a webhook the way its receivers expect it.',
    success: 'The signature and the headers to send.',
  },
};

export const fields: NonNullable<Descriptions['fields']> = {
  plaintext: 'Text to encrypt, or that was decrypted. UTF-8.',
  plaintext_b64: 'The same as bytes, in base64.',
  ciphertext: '`svc:v<version>:<base64>`. A `vault:v<version>:` prefix is accepted too.',
  associated_data_b64:
    'Bytes that are authenticated and not encrypted, in base64, up to 4 KiB. The ciphertext opens only with the same bytes.',
  context_b64: 'Context of a derived key, in base64, up to 4 KiB. Required for such a key.',
  batch: 'Up to 250 items, instead of the fields of one.',
  batch_results: 'One result per item, in order.',
  error: 'What refused the item.',
  'CryptoItemFailure.type': 'Type of the error.',
  'CryptoItemFailure.message': 'What is wrong with the item.',
  'error.type': 'Type of the error.',
  'error.message': 'What is wrong with the item.',
  format: '`utf8` returns text in `plaintext` instead of bytes in `plaintext_b64`.',
  'X-Reveal-Reason': 'Why you decrypt, for the audit log. Percent-encoded, at most 500 characters.',
  bits: 'Length of the data key.',
  include_plaintext: 'Whether to return the data key in plaintext too.',
  data: 'Data to sign or verify, as text.',
  data_b64: 'The same as bytes, in base64.',
  hash: 'Hash of RSA and ECDSA signatures. Defaults to `sha256`, for `ecdsa-p384` to `sha384`.',
  rsa_padding: 'Padding of RSA signatures: `pss` or `pkcs1v15`. Defaults to `pss`.',
  signature: '`svc:v<version>:<base64>`. Verification also takes bare base64 or base64url.',
  valid: 'Whether it is valid.',
  claims: 'Claims of the token.',
  header_overrides: 'Header parameters to set: `typ`, `cty`, up to 10 private ones, and `alg` of RSA keys.',
  ttl_seconds: 'Seconds until the token expires. Sets `exp`.',
  token: 'The JWT.',
  expected: 'What the claims of the token must be.',
  iss: 'Expected issuer.',
  aud: "Expected audience: equal to, or one of, the token's.",
  sub: 'Expected subject.',
  clock_skew_seconds: 'Seconds by which clocks may differ. Defaults to 60.',
  'CryptoJwtVerdict.error': 'Why the token is not valid.',
  payload: 'Body of the webhook, as text.',
  payload_b64: 'The same as bytes, in base64.',
  timestamp_seconds: 'Time of the signature in seconds since 1970. Defaults to now.',
  'CryptoWebhookSignature.format': 'The convention the signature follows.',
  signature_header: 'Value of the signature header.',
  headers: 'Headers to send with the webhook.',
};

export const examples: NonNullable<Descriptions['examples']> = {
  plaintext: 'Jane Doe, 415-555-9311',
  plaintext_b64: 'SmFuZSBEb2UsIDQxNS01NTUtOTMxMQ==',
  ciphertext: 'svc:v1:oKGio6SlpqeoqaqrCtXdCR3M5q6Yvrpibw8FTax5Ekhlj23aTkWz4jJX9etFgWAjo4Y=',
  data: 'hello',
  signature: 'svc:v1:U8QCcqcMFcpO4K9N8fFV/WxB4AziMH2Jh+zUuzan6ZA=',
  valid: true,
  claims: { sub: 'user_1', iat: 1_767_225_600, exp: 1_767_229_200 },
  ttl_seconds: 3_600,
  payload: '{"id":"evt_1"}',
  timestamp_seconds: 1_767_225_600,
};
