import { Badge } from '#components/ui/badge.tsx';

type Props = { request: readonly string[]; response: readonly string[]; injected: readonly string[] };

/** Names only: values of headers are part of the payload. What we put in is marked, its value shown as dots that hide nothing but a length. */
export function HeaderNames({ request, response, injected }: Props) {
  const put = injected.map(placeOf);
  return (
    <section className="flex flex-col gap-3">
      <h3 className="font-semibold">Headers</h3>
      {put.length > 0 && (
        <dl className="rounded-lg border border-accent-line bg-accent-soft px-3 py-2 text-xs">
          {put.map(({ where, name }) => (
            <div key={`${where}:${name}`} className="flex flex-wrap items-baseline gap-x-2 py-0.5">
              <dt className="font-mono">{name}</dt>
              <dd className="text-ink-2">
                <span aria-hidden>••••••••</span>
                <span className="sr-only">value not shown,</span> injected {where}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <Names title="Request headers" names={request} />
      <Names title="Response headers" names={response} />
    </section>
  );
}

const WHERE: Record<string, string> = { header: 'as a header', query: 'in the query', body: 'in the body' };

function placeOf(text: string): { where: string; name: string } {
  const at = text.indexOf(':');
  const kind = at === -1 ? text : text.slice(0, at);
  return { where: WHERE[kind] ?? kind, name: at === -1 ? text : text.slice(at + 1) };
}

function Names({ title, names }: { title: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <div className="flex flex-col gap-1">
      <h4 className="text-ink-3 text-xs">{title}</h4>
      <p className="flex flex-wrap gap-1">
        {names.map((name) => (
          <Badge key={name} mono>
            {name}
          </Badge>
        ))}
      </p>
    </div>
  );
}
