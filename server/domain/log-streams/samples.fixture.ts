import { type Fixture, fresh, idOf, made, nothing, type Sample } from '#server/testing/factories.ts';
import { oncePerFile } from '#server/testing/file-end.ts';
import { startCollector } from './collector.fixture.ts';

const collector = oncePerFile(startCollector);

const stream: Sample = async () => {
  return { name: fresh('stream'), kind: 'splunk', endpoint: (await collector()).url, token: fresh('a token nobody may see') };
};
const streamId = idOf('log_streams.create', stream);

/** Of a workspace where people see details of audit entries only by a reveal. */
const withheld: Sample = async (ctx) => {
  await made(ctx, 'account.update_settings', { details_withheld: true });
  return plain();
};
const moved: Sample = async (ctx) => {
  const { id } = await made(ctx, 'log_streams.create', await plain());
  await withheld(ctx);
  return { id, endpoint: 'https://collect.example.com' };
};
const plain = async () => ({ name: fresh('siem'), source: 'audit', kind: 'https', endpoint: (await collector()).url });

export const samples: Record<string, Sample> = {
  'log_streams.list': nothing,
  'log_streams.get': streamId,
  'log_streams.create': stream,
  'log_streams.update': async (ctx) => ({ ...(await streamId(ctx)), name: fresh('renamed') }),
  'log_streams.delete': streamId,
  'log_streams.test': streamId,
};
export const confirmedSamples: Fixture['confirmedSamples'] = {
  'log_streams.create capability.grant': withheld,
  'log_streams.update capability.grant': moved,
};
export const freeSamples: Fixture['freeSamples'] = {
  'log_streams.create': async (ctx) => ({ ...(await withheld(ctx)), source: 'requests' }),
  'log_streams.update': async (ctx) => ({ ...(await streamId(ctx)), enabled: false }),
};
const credentials = ['headers', 'secret_access_key', 'token'];
export const secretInput = { 'log_streams.create': credentials, 'log_streams.update': credentials };
export const moving: Fixture['moving'] = {
  'log_streams.update': {
    edits: { endpoint: async (ctx) => ({ ...(await streamId(ctx)), endpoint: 'https://collect.example.com' }) },
    again: { token: 'another token' },
  },
};
export const dependsOnState = [
  /is required for streams of kind|is not for streams of kind|must not set|must stay on the same host|must be a URL|can only be traces|must use|must not/i,
];

export const harmless = {
  // Where entries go is judged as a move of the token and as a disclosure; the audit log itself stays.
  'log_streams.update': ['name', 'endpoint', 'headers', 'token', 'region', 'prefix', 'access_key_id', 'secret_access_key', 'enabled'],
};
