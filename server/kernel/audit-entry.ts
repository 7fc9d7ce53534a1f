import { auditActor, type Ctx } from './context.ts';
import { sanitiseDetails } from './sanitise.ts';

/** What an audit row says beyond who, when and from where (interface rule 61 §2). */
export type AuditEntry = {
  action: string;
  resource_type: string;
  resource_id: string | null;
  /** Label of the resource at that time. */
  name?: string;
  changes?: { field: string; from?: unknown; to?: unknown; changed?: true }[];
  reason?: string;
  /** Further credential-free details. */
  details?: Record<string, unknown>;
  /** Workspace-level entries (members, billing, tenant) are stamped sandbox=false whatever the space. */
  workspace_level?: boolean;
};

/** The caller of an entry, as far as its details name it. */
type Caller = Pick<Ctx, 'actor' | 'request_id' | 'step_up'>;

/** The details of an entry as they are stored: sanitised, with the stamp of the space, the actor and the request. */
export const auditDetails = ({ actor, request_id, step_up }: Caller, entry: AuditEntry, sandbox: boolean) =>
  sanitiseDetails({
    ...entry.details,
    ...(entry.name === undefined ? {} : { name: entry.name }),
    ...(entry.changes === undefined ? {} : { changes: entry.changes }),
    ...(entry.reason === undefined ? {} : { reason: entry.reason }),
    ...(step_up?.used ? { step_up: { ...step_up.used, scope: step_up.scope } } : {}),
    sandbox,
    actor: auditActor(actor),
    request_id: request_id || null,
  });
