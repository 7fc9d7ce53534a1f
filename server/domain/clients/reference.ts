import type { Described, Examples } from '#server/kernel/reference.ts';

/** Example values by field, or by `component.field`; `request.field` also puts an optional field into example requests. */
export const examples: Examples = {
  name: 'billing-server',
  type: 'server',
  ip_address: '203.0.113.7',
  ip_notes: {},
  description: 'Sends invoices',
  credential_kinds: { ip: 1 },
  ip_country: 'DE',
  route_name: 'stripe',
  environment_name: 'production',
  kind: 'ip',
  label: 'office',
  data: { value: '198.51.100.0/24' },
  'request.label': 'office',
  'request.description': 'Sends invoices',
  created_by: null,
  agent_version: null,
  agent_os: null,
  agent_arch: null,
  agent_hostname: null,
  agent_last_seen: null,
  agent_mode: null,
  last_matched_at: '2026-01-31T09:30:00.000Z',
  expires_at: null,
};

export const operations: Described = {
  'clients.list': { description: 'Lists the clients of this space.', success: 'A page of clients.' },
  'clients.get': { description: "Returns a client with the routes and environments it's assigned to.", success: 'The client.' },
  'clients.create': { description: 'Creates a client, with its IP address as the first credential.', success: 'The created client.' },
  'clients.update': { description: 'Changes a client. Members you leave out keep their values.', success: 'The updated client.' },
  'clients.delete': {
    description: 'Deletes a client with its credentials and assignments. Routes that require clients refuse it from the next call.',
    success: 'The client was deleted.',
  },
  'clients.list_credentials': {
    description: 'Lists the credentials a client is recognized by.',
    success: 'The credentials of the client.',
  },
  'clients.create_credential': {
    description: 'Adds a credential to a client. In this release clients are recognized by IP address.',
    success: 'The created credential.',
  },
  'clients.update_credential': {
    description: 'Changes the label, state or expiry of a credential. An empty label removes it.',
    success: 'The updated credential.',
  },
  'clients.delete_credential': {
    description: "Deletes a credential. The client's own address can't be deleted: change it on the client instead.",
    success: 'The credential was deleted.',
  },
  'clients.assign': {
    description: 'Assigns a client to routes in the given environments. Existing assignments are kept.',
    success: 'All assignments of the client.',
  },
  'clients.unassign': {
    description: 'Removes assignments from a client. Without a body, all of them are removed.',
    success: 'The assignments that remain.',
  },
};
