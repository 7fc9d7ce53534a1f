/** A signed call to show, in the languages people call routes from. */
export type SigningExample = {
  scheme: 'v1' | 'concat' | 'rfc9421';
  kind: 'signature_hmac' | 'signature_ed25519';
  /** Address of the workspace's routes, without a slash at its end. */
  proxyUrl: string;
  /** Slug of the route. */
  reference: string;
  /** '' for the base environment. */
  environment: string;
  /** ID of the credential, or a place for it. */
  keyId: string;
};

export type SigningSnippet = { id: 'curl' | 'node' | 'python'; label: string; language: 'bash' | 'javascript' | 'python'; code: string };

const PATH = '/v1/charges';
const BODY = '{"amount":2000}';

/** A call of the same route in each language, complete: it runs once key and secret are filled in. */
export function signingSnippets(example: SigningExample): readonly [SigningSnippet, ...SigningSnippet[]] {
  return [
    { id: 'curl', label: 'curl', language: 'bash', code: curl(example) },
    { id: 'node', label: 'Node', language: 'javascript', code: node(example) },
    { id: 'python', label: 'Python', language: 'python', code: python(example) },
  ];
}

const hostOf = (url: string): string => url.replace(/^\w+:\/\//, '').split('/')[0] ?? '';
const lines = (...all: (string | false)[]): string => all.filter((line) => line !== false).join('\n');
const isHmac = ({ kind, scheme }: SigningExample): boolean => kind === 'signature_hmac' || scheme === 'concat';
/** What is covered, in this order. */
const components = ({ environment }: SigningExample): string[] => [
  '@method',
  '@authority',
  '@target-uri',
  'content-digest',
  ...(environment ? ['x-svc-environment'] : []),
];

function curl(example: SigningExample): string {
  const { scheme, proxyUrl, reference, environment, keyId } = example;
  const hmac = isHmac(example);
  const url = `${proxyUrl}/${reference}${PATH}`;
  const covered = components(example)
    .map((name) => `\\"${name}\\"`)
    .join(' ');
  const signed = hmac
    ? `openssl dgst -sha256 -mac HMAC -macopt "hexkey:$SECRET_HEX" -binary`
    : 'openssl pkeyutl -sign -rawin -inkey client-key.pem -in /dev/stdin';
  const asHex = `od -An -v -tx1 | tr -d ' \\n'`;
  const asBase64 = `openssl base64 -A`;
  const text =
    scheme === 'v1'
      ? [
          `HASH=$(printf %s "$BODY" | openssl dgst -sha256 -binary | ${asHex})`,
          `printf 'v1\\n%s\\n%s\\n%s\\n%s\\n%s\\n%s\\n%s\\n%s\\n%s' \\`,
          `  "$TIMESTAMP" "$NONCE" ${hostOf(proxyUrl).replace(/:\d+$/, '')} ${reference} '${environment}' POST ${PATH} '' "$HASH" > to-sign`,
        ]
      : scheme === 'concat'
        ? [`printf %s "$TIMESTAMP" POST ${PATH} "$BODY" > to-sign`]
        : [
            `DIGEST="sha-256=:$(printf %s "$BODY" | openssl dgst -sha256 -binary | ${asBase64}):"`,
            `INPUT="(${covered});created=$TIMESTAMP;keyid=\\"$KEY_ID\\";nonce=\\"$NONCE\\""`,
            `printf '"@method": POST\\n"@authority": ${hostOf(proxyUrl)}\\n"@target-uri": %s\\n"content-digest": %s\\n${environment ? `"x-svc-environment": ${environment}\\n` : ''}"@signature-params": %s' \\`,
            `  "$URL" "$DIGEST" "$INPUT" > to-sign`,
          ];
  const value =
    scheme === 'rfc9421'
      ? `${signed} < to-sign | ${asBase64}`
      : hmac
        ? `${signed} < to-sign | ${asHex}`
        : `${signed} < to-sign | ${asBase64} | tr '+/' '-_' | tr -d '='`;
  const headers = {
    v1: ['X-Svc-Timestamp: $TIMESTAMP', 'X-Svc-Nonce: $NONCE', 'X-Svc-Key-Id: $KEY_ID', 'X-Svc-Signature: v1=$SIGNATURE'],
    concat: ['X-Timestamp: $TIMESTAMP', 'X-Svc-Key-Id: $KEY_ID', 'X-Signature: $SIGNATURE'],
    rfc9421: ['Content-Digest: $DIGEST', 'Signature-Input: svc=$INPUT', 'Signature: svc=:$SIGNATURE:'],
  }[scheme];
  return lines(
    `KEY_ID=${keyId}`,
    hmac &&
      '# A generated secret is base64url. An imported one is used as it is: SECRET_HEX=$(printf %s "$SECRET" | od -An -v -tx1 | tr -d \' \\n\')',
    hmac && `SECRET_HEX=$(printf '%s=' "$SECRET" | tr '_-' '/+' | openssl base64 -d -A | ${asHex})`,
    `URL=${url}`,
    `BODY='${BODY}'`,
    'TIMESTAMP=$(date +%s)',
    scheme !== 'concat' && 'NONCE=$(openssl rand -hex 16)',
    ...text,
    `SIGNATURE=$(${value})`,
    'curl "$URL" --data "$BODY" -H "Content-Type: application/json" -H "X-Svc-Key: $SVC_KEY" \\',
    environment !== '' && `  -H "X-Svc-Environment: ${environment}" \\`,
    headers.map((header) => `  -H "${header}"`).join(' \\\n'),
  );
}

function node(example: SigningExample): string {
  const { scheme, proxyUrl, reference, environment, keyId } = example;
  const hmac = isHmac(example);
  const covered = components(example)
    .map((name) => `"${name}"`)
    .join(' ');
  const text = {
    v1: [
      `const hash = createHash('sha256').update(body).digest('hex');`,
      `const text = ['v1', timestamp, nonce, url.hostname, '${reference}', '${environment}', 'POST', '${PATH}', url.search.slice(1), hash].join('\\n');`,
    ],
    concat: [`const text = \`\${timestamp}POST${PATH}\${url.search}\${body}\`;`],
    rfc9421: [
      `const digest = \`sha-256=:\${createHash('sha256').update(body).digest('base64')}:\`;`,
      `const input = \`(${covered});created=\${timestamp};keyid="\${keyId}";nonce="\${nonce}"\`;`,
      'const text = [',
      `  '"@method": POST',`,
      '  `"@authority": ${url.host}`,',
      '  `"@target-uri": ${url.href}`,',
      '  `"content-digest": ${digest}`,',
      environment && `  '"x-svc-environment": ${environment}',`,
      '  `"@signature-params": ${input}`,',
      `].join('\\n');`,
    ],
  }[scheme];
  const encoding = scheme === 'rfc9421' ? 'base64' : hmac ? 'hex' : 'base64url';
  const headers = {
    v1: ["'X-Svc-Timestamp': timestamp", "'X-Svc-Nonce': nonce", "'X-Svc-Key-Id': keyId", "'X-Svc-Signature': `v1=${signature}`"],
    concat: ["'X-Timestamp': timestamp", "'X-Svc-Key-Id': keyId", "'X-Signature': signature"],
    rfc9421: ["'Content-Digest': digest", "'Signature-Input': `svc=${input}`", "'Signature': `svc=:${signature}:`"],
  }[scheme];
  const used = [
    scheme !== 'concat' && 'createHash',
    hmac && 'createHmac',
    !hmac && 'createPrivateKey',
    scheme !== 'concat' && 'randomUUID',
    !hmac && 'sign',
  ].filter((one) => one !== false);
  return lines(
    `import { ${used.join(', ')} } from 'node:crypto';`,
    !hmac && `import { readFileSync } from 'node:fs';`,
    `import { env } from 'node:process';`,
    '',
    `const keyId = '${keyId}';`,
    hmac && '// A generated secret is base64url. An imported one is used as it is: Buffer.from(env.SECRET).',
    hmac ? `const key = Buffer.from(env.SECRET, 'base64url');` : `const key = createPrivateKey(readFileSync('client-key.pem'));`,
    `const url = new URL('${proxyUrl}/${reference}${PATH}');`,
    `const body = '${BODY}';`,
    'const timestamp = String(Math.floor(Date.now() / 1000));',
    scheme !== 'concat' && 'const nonce = randomUUID();',
    ...text.map((line) => line || false),
    hmac
      ? `const signature = createHmac('sha256', key).update(text).digest('${encoding}');`
      : `const signature = sign(null, Buffer.from(text), key).toString('${encoding}');`,
    '',
    'const response = await fetch(url, {',
    `  method: 'POST',`,
    '  body,',
    '  headers: {',
    `    'Content-Type': 'application/json',`,
    `    'X-Svc-Key': env.SVC_KEY,`,
    environment !== '' && `    'X-Svc-Environment': '${environment}',`,
    ...headers.map((header) => `    ${header},`),
    '  },',
    '});',
    'console.log(response.status, await response.text());',
  );
}

function python(example: SigningExample): string {
  const { scheme, proxyUrl, reference, environment, keyId } = example;
  const hmac = isHmac(example);
  const covered = components(example)
    .map((name) => `"${name}"`)
    .join(' ');
  const text = {
    v1: [
      'digest = hashlib.sha256(body).hexdigest()',
      `text = "\\n".join(["v1", timestamp, nonce, "${hostOf(proxyUrl).replace(/:\d+$/, '')}", "${reference}", "${environment}", "POST", "${PATH}", "", digest])`,
    ],
    concat: [`text = timestamp + "POST${PATH}" + body.decode()`],
    rfc9421: [
      'digest = "sha-256=:" + base64.b64encode(hashlib.sha256(body).digest()).decode() + ":"',
      `params = f'(${covered});created={timestamp};keyid="{key_id}";nonce="{nonce}"'`,
      'text = "\\n".join([',
      `    '"@method": POST',`,
      `    '"@authority": ${hostOf(proxyUrl)}',`,
      `    f'"@target-uri": {url}',`,
      `    f'"content-digest": {digest}',`,
      environment && `    '"x-svc-environment": ${environment}',`,
      `    f'"@signature-params": {params}',`,
      '])',
    ],
  }[scheme];
  const made = hmac ? 'hmac.new(key, text.encode(), "sha256")' : 'key.sign(text.encode())';
  const signature =
    scheme === 'rfc9421'
      ? `base64.b64encode(${hmac ? `${made}.digest()` : made}).decode()`
      : hmac
        ? `${made}.hexdigest()`
        : `base64.urlsafe_b64encode(${made}).decode().rstrip("=")`;
  const headers = {
    v1: ['"X-Svc-Timestamp": timestamp', '"X-Svc-Nonce": nonce', '"X-Svc-Key-Id": key_id', '"X-Svc-Signature": "v1=" + signature'],
    concat: ['"X-Timestamp": timestamp', '"X-Svc-Key-Id": key_id', '"X-Signature": signature'],
    rfc9421: ['"Content-Digest": digest', '"Signature-Input": "svc=" + params', '"Signature": "svc=:" + signature + ":"'],
  }[scheme];
  return lines(
    `import base64, hashlib, ${hmac ? 'hmac, ' : ''}os, time, urllib.request, uuid`,
    !hmac && 'from cryptography.hazmat.primitives.serialization import load_pem_private_key',
    '',
    `key_id = "${keyId}"`,
    hmac && '# A generated secret is base64url. An imported one is used as it is: os.environ["SECRET"].encode().',
    hmac
      ? 'key = base64.urlsafe_b64decode(os.environ["SECRET"] + "=")'
      : 'key = load_pem_private_key(open("client-key.pem", "rb").read(), None)',
    `url = "${proxyUrl}/${reference}${PATH}"`,
    `body = b'${BODY}'`,
    'timestamp = str(int(time.time()))',
    scheme !== 'concat' && 'nonce = str(uuid.uuid4())',
    ...text.map((line) => line || false),
    `signature = ${signature}`,
    '',
    'request = urllib.request.Request(url, body, {',
    '    "Content-Type": "application/json",',
    '    "X-Svc-Key": os.environ["SVC_KEY"],',
    environment !== '' && `    "X-Svc-Environment": "${environment}",`,
    ...headers.map((header) => `    ${header},`),
    '})',
    'with urllib.request.urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  );
}
