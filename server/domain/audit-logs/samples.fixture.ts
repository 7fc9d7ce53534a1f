import { environment } from '#server/domain/environments/samples.fixture.ts';
import { made, nothing, type Sample } from '#server/testing/factories.ts';

const entryId: Sample = async (ctx) => {
  await made(ctx, 'environments.create', await environment(ctx));
  const [entry] = (await made(ctx, 'audit_logs.browse', { action: 'create', resource_type: 'environment' })).entries;
  return { id: entry.id };
};

export const samples: Record<string, Sample> = {
  'audit_logs.list': nothing,
  'audit_logs.events': nothing,
  'audit_logs.browse': nothing,
  'audit_logs.get': entryId,
  'audit_logs.reveal': entryId,
  'audit_logs.facets': nothing,
  'audit_logs.export': nothing,
  'audit_logs.critical': nothing,
  'audit_logs.verify_critical': nothing,
  'audit_logs.export_critical': nothing,
};
