'use client';

import { parseAsString, useQueryState } from 'nuqs';
import { useScope } from '#components/trpc/provider.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { cn } from '#components/ui/cn.ts';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { RoleActs } from './role-acts.tsx';
import { KEY_ROLE_LIST, MEMBER_ROLE_LIST, type RoleRow, whoMay } from './role-words.ts';

const LISTS = [
  {
    title: 'Of people',
    hint: 'One role in each workspace. In this release the operator of the installation adds people: npm run -s admin -- set-member.',
    rows: MEMBER_ROLE_LIST,
  },
  { title: 'Of API keys', hint: 'A key may have several; they add up.', rows: KEY_ROLE_LIST },
] as const;

/** What each role may and may not do, in words, read from the table that decides every call. */
export function RolesView() {
  const { role: mine } = useScope();
  const [chosen, choose] = useQueryState('role', parseAsString.withDefault(mine));
  const list = LISTS.find(({ rows }) => rows.some(({ id }) => id === chosen)) ?? LISTS[0];
  const role: RoleRow | undefined = list.rows.find(({ id }) => id === chosen) ?? list.rows[0];
  return (
    <Page className="max-w-6xl">
      <PageHeader title="Roles" description="What a role lets a person or an API key do here. Every call is judged by this table." />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 lg:grid-cols-[18rem_minmax(0,1fr)]">
        <div className="flex flex-col gap-4">
          {LISTS.map(({ title, hint, rows }) => (
            <nav key={title} aria-label={`Roles ${title.toLowerCase()}`}>
              <h2 className="font-medium text-ink-3 text-xs">{title}</h2>
              <p className="pb-1.5 text-ink-3 text-xs">{hint}</p>
              <ul className="flex flex-col gap-px">
                {rows.map((row) => (
                  <li key={row.id}>
                    <button
                      type="button"
                      aria-current={row === role ? 'true' : undefined}
                      onClick={() => void choose(row.id)}
                      className={cn(
                        'flex min-h-8 w-full items-center gap-2 rounded-md px-2 text-left',
                        row === role ? 'bg-pressed/80 font-medium' : 'text-ink-2 hover:bg-subtle hover:text-ink',
                      )}
                    >
                      {row.name}
                      {row.id === mine && <Badge tone="accent">yours</Badge>}
                    </button>
                  </li>
                ))}
              </ul>
            </nav>
          ))}
        </div>
        {role && (
          <SectionCard title={role.name} description={role.description}>
            <RoleActs grants={role.grants} others={(capability) => whoMay(capability, list.rows)} names />
          </SectionCard>
        )}
      </div>
    </Page>
  );
}
