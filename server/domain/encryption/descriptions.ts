import type { Descriptions } from '#server/kernel/descriptions.ts';

const SEALED = 'kc:1:s:MGY4…:BOJm…:oKGi…:JVuP…:$';

export const descriptions: Descriptions = {
  about:
    'Encrypts the values of JSON documents, each into a text that names its key and version. The shape of the document stays, so it fits wherever it did before. ' +
    "Anyone with the public key can seal, browsers included; only the service opens. Without a key of your own, the space's default key `kc-default` is used.",
  operations: {
    'encryption.encrypt': {
      description:
        'Seals each value of `data`. Member names, order, array lengths and the digits of numbers stay. Values that are sealed already stay as they are. ' +
        'To seal raw bytes, send `{"$b64": "<base64>"}`.',
      success: 'The document with its values sealed.',
    },
    'encryption.decrypt': {
      description:
        'Opens each sealed value in `data`, under whichever key and version sealed it; everything else passes through. If one value fails, the call fails and names ' +
        'its place as a JSON Pointer. The audit entry is written before the response. Tokens of a person can never call this.',
      success: 'The document with its values in plaintext.',
    },
    'encryption.rewrap': {
      description:
        "Moves each sealed value in `data` to the current version of its key, without showing it. Afterwards the key's older versions can be destroyed.",
      success: 'The document with its values sealed under the current versions.',
    },
    'encryption.inspect': {
      description: 'Describes a sealed value from its text alone: no key is used, and nothing is audited.',
      success: 'What the text says about itself.',
    },
    'encryption.bundle': {
      description:
        'Returns all that sealing takes, for your pages and applications: nothing in it is secret. A bundle keeps working after the key is rotated. The default key ' +
        'is created when it is first asked for.',
      success: 'The public key and its name.',
    },
  },
  fields: {
    data: 'Any JSON value. Member names are never changed.',
    ciphertext: 'The document with the shape of `data`.',
    plaintext: 'The document with the shape of `data`. Bytes appear as `{"$b64": "<base64>"}`.',
    key: 'Name of a crypto key of type `ecdh-p256`. Defaults to `kc-default`.',
    key_version: 'Version of the key that was used.',
    role: 'Label bound into each sealed value, such as `pci`. The same role must be sent to open it.',
    selectors: 'Which values to process, such as `$.card.number`, `$..ssn` or `$.items[*].sku`. Defaults to all.',
    exclude: 'Selectors of values to leave out. They win over `selectors`.',
    encrypted: 'How many values were sealed.',
    'InspectedValue.encrypted': 'Whether the text is a well-formed sealed value.',
    skipped: 'How many values were sealed before and stayed as they are.',
    decrypted: 'How many values were opened.',
    rewrapped: 'How many values were sealed anew.',
    value: 'The text to describe.',
    scheme: 'Always `kc`.',
    version: 'Version of the scheme.',
    datatype: 'What was sealed.',
    key_ref: 'The key and version that sealed the value.',
    tenantId: 'ID of the workspace.',
    appKeyId: 'ID of the crypto key.',
    keyVersion: 'Version of the crypto key.',
    app_key_id: 'ID of the crypto key.',
    fingerprint: 'Names the sealed value. Two seals of one value have two fingerprints.',
    public_key_raw: 'Uncompressed P-256 point in base64url.',
  },
  examples: {
    data: { card: { number: '4242424242424242' }, note: 'leave me' },
    'request.data': { card: { number: '4242424242424242' }, note: 'leave me' },
    ciphertext: { card: { number: SEALED }, note: 'leave me' },
    plaintext: { card: { number: '4242424242424242' }, note: 'leave me' },
    key: 'kc-default',
    key_version: 1,
    role: 'pci',
    'request.role': 'pci',
    selectors: ['$.card.number'],
    'request.selectors': ['$.card.number'],
    exclude: [],
    encrypted: 1,
    'InspectedValue.encrypted': true,
    skipped: 0,
    decrypted: 1,
    rewrapped: 1,
    value: 'kc:1:s:example…:$',
    scheme: 'kc',
    version: 1,
    datatype: 'string',
    tenantId: '0f8fad5b-d9cb-469f-a165-70867728950e',
    appKeyId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    keyVersion: 1,
    tenant_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
    app_key_id: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    fingerprint: 'sha256:b076cc67cbc4ce5323bc9a467248cb71',
    public_key_raw: 'BGD-1LolWp0xyWHrdMY1bWjASbiSO2H6bOZpYi5g8p-2eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk',
  },
};
