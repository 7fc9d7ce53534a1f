import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { oneSided } from './compare.ts';

const PER_PAGE = 100;

/** Every secret of the space, page by page. */
export function useAllSecrets() {
  const trpc = useTRPC();
  const page = (n: number) => trpc.secrets.list.queryOptions({ page: n, per_page: PER_PAGE }, { placeholderData: keepPreviousData });
  const first = useQuery(page(1));
  const pages = Math.ceil((first.data?.meta.total ?? 0) / PER_PAGE);
  const others = useQueries({ queries: Array.from({ length: Math.max(0, pages - 1) }, (_, i) => page(i + 2)) });
  return [first, ...others].flatMap(({ data }) => data?.data ?? []);
}

type Side = { name: string; display_name: string };
type Props = { secrets: ReturnType<typeof useAllSecrets>; left: Side; right: Side };

/** Secrets with a value in one of the two environments only, whether or not a route uses them. */
export function MissingValues({ secrets, left, right }: Props) {
  const path = usePath();
  const label = useEnvironmentLabel();
  const missing = oneSided(secrets, left.name, right.name);
  if (missing.length === 0) return null;
  const ids = new Map(secrets.map(({ id, name }) => [name, id]));
  return (
    <SectionCard
      title="Missing secrets"
      description={`${counted(missing.length, 'secret')} with a value in only one of the two environments.`}
    >
      <ul className="flex flex-col">
        {missing.map(({ name, missing_in }) => (
          <li key={name} className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line border-t py-1.5 first:border-t-0">
            <KeyRound aria-hidden className="size-3.5 shrink-0 text-ink-3" />
            <span className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">{name}</span>
            <span className="text-warn-ink">No value in {label(missing_in === left.name ? left.display_name : right.display_name)}</span>
            <LinkButton size="sm" className="ml-auto" href={path(`/secrets/${ids.get(name) ?? ''}`)}>
              Set value
              <span className="sr-only"> of {name}</span>
            </LinkButton>
          </li>
        ))}
      </ul>
    </SectionCard>
  );
}
