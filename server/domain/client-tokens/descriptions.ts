import type { Descriptions } from '#server/kernel/descriptions.ts';

const SEALED = 'kc:1:s:MGY4…:BOJm…:oKGi…:JVuP…:$';

export const descriptions: Descriptions = {
  about:
    'A client token lets a page or an agent without an API key do one thing once: decrypt one sealed value, detokenize one vault token, or put one value into a vault ' +
    'from a page of yours. Your backend mints it, and the page spends it at the endpoints below `/v1/client`.',
  operations: {
    'client_tokens.list': {
      description: 'Lists the client tokens that were minted in this space, newest first. Neither tokens nor what they open are shown.',
      success: 'A page of client tokens.',
    },
    'client_tokens.create': {
      description:
        'Mints a client token. The credential needs the capability that the token will exercise: `transit:decrypt`, `vault:detokenize` or `vault:tokenize`. The token ' +
        'is shown once and ends with the credential that minted it.',
      success: 'The client token.',
    },
    'client_tokens.delete': {
      description: 'Revokes a client token. It is refused at its next spend. Revoking one that is over changes nothing.',
      success: 'The client token was revoked.',
    },
    'client_tokens.revoke': {
      description: 'Revokes all open client tokens that one credential minted.',
      success: 'How many were revoked.',
    },
    'client_tokens.check': {
      description:
        'Says whether a client token is of this workspace and for this action, and can still be spent. Nothing is spent. Hosted fields call this before anything ' +
        'that was typed leaves them.',
      success: 'The token can be spent.',
    },
    'client_tokens.decrypt': {
      description: 'Spends a client token: opens the sealed value it was minted for. Pages of any origin may call this; API keys may not.',
      success: 'The plaintext, of the type that was sealed.',
    },
    'client_tokens.detokenize': {
      description:
        'Spends a client token: gives the value of the vault token it was minted for. Pages of any origin may call this; API keys may not.',
      success: 'The value.',
    },
    'client_tokens.tokenize': {
      description:
        'Spends a client token: puts one value into its vault. Only pages of the origins it was minted for may call this. Metadata and lifetime are decided by the vault.',
      success: 'The vault token.',
    },
  },
  fields: {
    id: 'ID of the client token.',
    'minted_by.id': 'ID of the credential.',
    action: 'What the token does.',
    data: 'The exact text that the token is bound to: a sealed value or a vault token.',
    vault: 'Name or ID of the vault. Required for `tokenize`, refused otherwise.',
    origins: 'Origins of the pages that may tokenize, such as `https://shop.example.com`. Required for `tokenize`, refused otherwise.',
    role: 'Data role that the sealed value was bound to.',
    ttl_seconds: 'Lifetime in seconds. Defaults to 300; more than 600 counts as 600.',
    token: 'The client token, where it is minted; a vault token, where a value was tokenized.',
    'request.token': "The client token, where the page can't set headers.",
    'ClientTokenized.token': 'The vault token.',
    expires_at: 'When it ends.',
    state: 'What became of it. Only a `minted` one can be spent.',
    payload_fp: 'Fingerprint of the sealed value.',
    key_id: 'ID of the crypto key of the sealed value.',
    key_name: 'Name of that key.',
    vault_id: 'ID of the vault.',
    vault_name: 'Name of the vault.',
    token_id: 'ID of the vault token.',
    minted_by: 'The credential that minted it.',
    'request.minted_by': 'ID of the API key, OAuth client or person that minted the tokens.',
    'query.minted_by': 'Only tokens that this API key, OAuth client or person minted.',
    'query.state': 'Only tokens in this state.',
    'query.action': 'Only tokens for this action.',
    workspace: 'ID of the workspace that the token must be of.',
    valid: 'Always `true`: any other token is refused.',
    type: 'Kind of credential.',
    label: 'Its name.',
    consumed_at: 'When it was spent.',
    consumed_ip: 'From which address it was spent.',
    consumed_origin: 'From which page origin it was spent.',
    failed_attempts: 'Spends with a wrong payload or action. The fifth burns the token.',
    burned_at: 'When wrong attempts ended it.',
    revoked_at: 'When it was revoked.',
    revoked: 'How many were revoked.',
    'RevokedClientToken.revoked': 'Always `true`.',
    plaintext: 'What was sealed.',
    value: 'The value.',
    card_exp_month: 'Month in which the card expires. For vaults of card numbers.',
    card_exp_year: 'Year in which the card expires, in four digits.',
    card_expires_on: 'Last day on which the card is valid.',
  },
  examples: {
    action: 'decrypt',
    data: SEALED,
    'request.data': SEALED,
    role: 'pci',
    'request.role': 'pci',
    ttl_seconds: 300,
    'MintedClientToken.token': 'kct_EBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8',
    'MintedClientToken.origins': ['https://shop.example.com'],
    'ClientTokenized.token': 'tok_01JD8Z3T9V6Q2M4N8K7H5R1C0B',
    origins: [],
    state: 'minted',
    payload_fp: 'sha256:b076cc67cbc4ce5323bc9a467248cb71',
    key_name: 'kc-default',
    vault_name: 'cards',
    type: 'api_key',
    label: 'Checkout backend',
    consumed_ip: null,
    consumed_origin: null,
    failed_attempts: 0,
    burned_at: null,
    revoked_at: null,
    consumed_at: null,
    revoked: 2,
    'RevokedClientToken.revoked': true,
    plaintext: '4242424242424242',
    value: '4242424242424242',
    card_expires_on: '2029-07-31',
  },
};
