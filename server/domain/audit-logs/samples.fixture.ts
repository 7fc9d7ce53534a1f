import { environment } from '#server/domain/environments/samples.fixture.ts';
import { made, nothing, type Sample } from '#server/testing/factories.ts';

export const samples: Record<string, Sample> = {
  'audit_logs.list': nothing,
  'audit_logs.events': nothing,
  'audit_logs.browse': nothing,
  'audit_logs.get': async (ctx) => {
    await made(ctx, 'environments.create', await environment(ctx));
    return { id: (await made(ctx, 'audit_logs.list')).at(0).id };
  },
  'audit_logs.facets': nothing,
  'audit_logs.export': nothing,
  'audit_logs.critical': nothing,
  'audit_logs.verify_critical': nothing,
  'audit_logs.export_critical': nothing,
};
