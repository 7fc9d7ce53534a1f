import type { Described, Examples } from '#server/kernel/reference.ts';

/** Example values by field, or by `component.field`; `request.field` also puts an optional field into example requests. */
export const examples: Examples = {
  email: 'ada@example.com',
  tenant_name: 'Acme',
  'request.full_name': 'Ada Lovelace',
  'request.tenant_name': 'Acme',
  claim_handle: 'example-handle-not-a-secret',
  api_key: 'tk_test_EXAMPLEEXAMP_this-is-not-a-real-key',
  message: 'Open the link in the e-mail to confirm your address.',
  poll_after_seconds: 5,
  claim_path: '/v1/signup/claim',
  documentation: 'https://example.com/docs',
};

export const operations: Described = {
  'signup.start': {
    description: 'Starts a sign-up: sends a confirmation link to the address and returns a handle to collect the workspace with.',
    success: 'The sign-up is waiting for confirmation.',
  },
  'signup.claim': {
    description: 'Collects the workspace and its first API key. The key is returned once. Poll while the status is `pending`.',
    success: 'The workspace and its first API key, or the pending sign-up.',
  },
};
