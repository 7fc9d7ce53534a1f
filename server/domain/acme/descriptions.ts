import type { Descriptions } from '#server/kernel/descriptions.ts';

export const descriptions: Descriptions = {
  about:
    'An ACME account lets a client such as certbot, lego, Caddy or cert-manager get certificates of one role by RFC 8555. It begins as a key ID and an HMAC ' +
    'key, with which the client registers once. The account answers to the credential that created it: when that ends, or loses the right to sign certificates, nothing more is issued.',
  operations: {
    'acme.list_accounts': {
      description:
        'Lists the ACME accounts of a role, newest first. Those that no client has registered with yet are `pending` or `expired`.',
      success: 'The ACME accounts.',
    },
    'acme.create_account': {
      description:
        'Creates a key ID and an HMAC key for the external account binding of one ACME client. The HMAC key is shown once. Takes `pki:sign`, because whoever registers with it gets ' +
        'certificates for keys of their own. A token that acts for a person creates an account of that person.',
      success: 'The key ID, the HMAC key and the URL of the directory.',
    },
    'acme.delete_account': {
      description:
        'Deletes an ACME account with its orders, or a key that was not used. The client is refused at its next request. Certificates it got stay valid until they are revoked or expire.',
      success: 'The ACME account was deleted.',
    },
  },
  fields: {
    name: 'Name or ID of the root.',
    role: 'Name or ID of the role.',
    id: 'ID of the ACME account, which is also its key ID.',
    kid: 'Key ID for the external account binding, for example `--eab-kid` of certbot.',
    hmac_key: 'HMAC key for the external account binding as base64url, for example `--eab-hmac-key` of certbot. Shown once.',
    directory_url: 'URL of the ACME directory, which clients call the server.',
    label: 'Your name for it. `null` when it has none.',
    ttl_seconds: 'How long a client can register with it. Defaults to 30 days. A registered account has no end.',
    status: '`pending` until a client registers, `expired` when none did in time, then `valid`, `deactivated` by the client, or `revoked`.',
    contact: 'Contact URLs that the client gave.',
    thumbprint: 'RFC 7638 thumbprint of the account key. `null` until a client registers.',
    minted_by: 'Who created the account and answers for it.',
    'minted_by.type': 'Kind of credential.',
    'minted_by.id': 'ID of the credential.',
    'minted_by.label': 'Name of the credential when the account was created.',
    created_at: 'When it was created.',
    expires_at: 'Until when a client can register with it.',
    registered_at: 'When a client registered with it. `null` before.',
    last_used_at: 'When its client last made a request, to the minute. `null` before.',
  },
  examples: {
    name: 'corp',
    role: 'web',
    kid: '019ab1c4-7f6e-7c3a-9d52-3f0a6f1e2b4d',
    hmac_key: 'Pz0_Vq7mXQ3b9dJt1yW5sC8hR2nK6uE4aL0gF7iO1kM',
    directory_url: 'https://api.example.com/pub/acme/pki/019ab1c4-7f6e-7c3a-9d52-3f0a6f1e2b4c/acme/web/directory',
    label: 'web-1',
    contact: ['mailto:ops@example.com'],
    thumbprint: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    status: 'valid',
  },
};
