/** What a destination narrows the events of its types to. Between the members all must hold; within one, any of the list (interface rule 60 §2.1). */
export type EventFilter = {
  /** Of `request.*` events only. */
  routes?: readonly string[];
  /** `429`, or a class such as `5xx`. */
  status_codes?: readonly string[];
  methods?: readonly string[];
  environments?: readonly string[];
  /** Patterns over `<resource_type>.<action>` of audit entries, with * for any. */
  audit?: readonly string[];
};

/** What filters may know of an event: nothing that has to be kept secret. */
export type EventFacts = {
  route_id?: string | null;
  status?: number | null;
  method?: string | null;
  environment?: string | null;
  /** `<resource_type>.<action>` of an audit entry. */
  audit?: string;
};

/** Whether an event of this type passes. A member that has nothing to do with the type holds back nothing. */
export function passes(type: string, filter: EventFilter | null, facts: EventFacts | null): boolean {
  if (filter === null) return true;
  if (type === 'audit.event') return anyOf(filter.audit, (pattern) => matchesAudit(pattern, facts?.audit ?? ''));
  if (!type.startsWith('request.')) return true;
  const { route_id = null, status = null, method = null, environment = null } = facts ?? {};
  return (
    anyOf(filter.routes, (id) => id === route_id) &&
    // A call that was only just admitted has no status to match.
    (status === null || anyOf(filter.status_codes, (code) => matchesStatus(code, status))) &&
    anyOf(filter.methods, (one) => one === method) &&
    anyOf(filter.environments, (one) => one === environment)
  );
}

const anyOf = (list: readonly string[] | undefined, holds: (one: string) => boolean) => !list || list.length === 0 || list.some(holds);

const matchesStatus = (pattern: string, status: number) =>
  pattern.endsWith('xx') ? pattern[0] === String(Math.floor(status / 100)) : pattern === String(status);

function matchesAudit(pattern: string, key: string): boolean {
  const [type = '', action = ''] = split(pattern);
  const [ofType = '', ofAction = ''] = split(key);
  return (type === '*' || type === ofType) && (action === '*' || action === ofAction);
}

/** An action may have dots of its own: `vault.detokenize`. */
function split(text: string): [string, string] {
  const dot = text.indexOf('.');
  return [text.slice(0, dot), text.slice(dot + 1)];
}
