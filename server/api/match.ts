import type { AnyOperation, Kind, Method } from '#server/kernel/operation.ts';

export type Match<O = AnyOperation> = { op: O; params: Record<string, string> };
type Node<O> = {
  literals: Map<string, Node<O>>;
  param: { name: string; node: Node<O> } | undefined;
  ops: Map<Method, O>;
  variants: Variant<O>[];
};
/** A row that answers calls of its path with one query parameter. */
type Variant<O> = { method: Method; name: string; value: string; op: O };

/** A path tree over the operations: literal segments win over parameters, so `/collections/{id}` never shadows a named path. */
export function matcher<O extends { id: string; http: string; kind: Kind }>(operations: readonly O[]) {
  const root = node<O>();
  for (const op of operations) {
    const [method, address] = op.http.split(' ') as [Method, string];
    const [path = '', query] = address.split('?');
    let at = root;
    for (const segment of path.split('/').slice(1)) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (name) {
        at.param ??= { name, node: node<O>() };
        if (at.param.name !== name) throw new Error(`${op.id}: {${name}} and {${at.param.name}} stand at the same place`);
        at = at.param.node;
      } else {
        const next = at.literals.get(segment) ?? node<O>();
        at.literals.set(segment, next);
        at = next;
      }
    }
    if (query !== undefined) {
      const [name = '', value = ''] = query.split('=');
      at.variants.push({ method, name, value, op });
      continue;
    }
    if (at.ops.has(method)) throw new Error(`${op.id}: ${op.http} is taken by ${at.ops.get(method)?.id}`);
    at.ops.set(method, op);
  }

  /** The operation of a method and path; the methods a known path allows when this one is not; null for an unknown path. */
  return (method: string, path: string, query?: URLSearchParams): Match<O> | { allow: string[] } | null => {
    const params: Record<string, string> = {};
    let at: Node<O> = root;
    for (const raw of path.split('/').slice(1)) {
      const segment = decode(raw);
      if (segment === null) return null;
      const literal = at.literals.get(segment);
      if (literal) at = literal;
      else if (at.param && segment !== '') {
        params[at.param.name] = segment;
        at = at.param.node;
      } else return null;
    }
    if (at.ops.size === 0) return null;
    const asked = (method === 'HEAD' ? 'GET' : method) as Method;
    const variant = at.variants.find((v) => v.method === asked && query?.getAll(v.name).includes(v.value));
    const op = variant?.op ?? at.ops.get(asked);
    if (op && (method !== 'HEAD' || answersHead(op))) return { op, params };
    return { allow: variant ? [variant.method] : [...at.ops].flatMap(allowedBy).sort() };
  };
}

/** A HEAD of a reveal would spend its verification and show nothing. */
const answersHead = ({ kind }: { kind: Kind }) => kind !== 'reveal';
const allowedBy = ([method, op]: [Method, { kind: Kind }]) => (method === 'GET' && answersHead(op) ? ['GET', 'HEAD'] : [method]);

const node = <O>(): Node<O> => ({ literals: new Map(), param: undefined, ops: new Map(), variants: [] });

function decode(segment: string): string | null {
  try {
    const text = decodeURIComponent(segment);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
