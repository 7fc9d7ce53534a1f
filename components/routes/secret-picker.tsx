'use client';

import { useQueries, useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { secretsIn } from '#server/domain/routes/config/literal-credential.shared.ts';
import { idsIn, withIds, withNames } from './secret-references.ts';

export type SecretPickerProps = {
  /** Called with the placeholder to put into a template. */
  onPick: (placeholder: string) => void;
  /** Secrets without a value here are marked: a call would be refused. */
  environment?: string | undefined;
  label?: string;
};

/** Find a secret by name and insert it. Templates hold its id, so that a rename breaks nothing. */
export function SecretPicker({ onPick, environment, label = 'Insert secret' }: SecretPickerProps) {
  const trpc = useTRPC();
  const [query, setQuery] = useState('');
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 50, ...(query ? { q: query } : {}) }));
  // A picker forgets its choice at once: the next one starts empty.
  const [round, setRound] = useState(0);
  return (
    <Combobox
      key={round}
      label={label}
      placeholder="Search secrets…"
      loading={secrets.isFetching}
      emptyText="No matching secrets."
      options={(secrets.data?.data ?? []).map((secret) => ({
        value: secret.id,
        label: secret.name,
        icon: <KeyRound aria-hidden className="size-3.5 text-ink-3" />,
        detail: detailOf(secret.environment_names, environment),
      }))}
      value={null}
      onQueryChange={setQuery}
      onValueChange={(id) => {
        if (!id) return;
        setRound(round + 1);
        setQuery('');
        onPick(`{{secret_id:${id}}}`);
      }}
    />
  );
}

function detailOf(environments: readonly string[], wanted: string | undefined): string {
  if (wanted && !environments.includes(wanted)) return `No value in ${wanted}`;
  return environments.length > 0 ? `Value in ${environments.join(', ')}` : 'No value';
}

/** The secrets that a template names, by the names people know. */
export function SecretChips({ template }: { template: string }) {
  const named = secretsIn(template);
  const secrets = useSecretNames(
    named.length > 0,
    named.flatMap(({ by, value }) => (by === 'id' ? [value.toLowerCase()] : [])),
  );
  if (named.length === 0) return null;
  return (
    <span className="flex flex-wrap gap-1">
      {named.map(({ by, value }) => {
        const name = by === 'name' ? value : secrets.get(value.toLowerCase())?.name;
        return (
          <Badge key={`${by}${value}`} tone={name || secrets.size === 0 ? 'accent' : 'warn'} icon={<KeyRound />} title={value}>
            {name ?? (secrets.size === 0 ? 'secret' : 'Secret not found')}
          </Badge>
        );
      })}
    </span>
  );
}

/** Beyond these, a template would be read with ids. */
const MOST_LOOKED_UP = 20;

/** The first hundred secrets by id, and those of `ids` that aren't among them. */
export function useSecretNames(
  enabled = true,
  ids: readonly string[] = [],
): ReadonlyMap<string, { name: string; environment_names: readonly string[] }> {
  const trpc = useTRPC();
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 100 }, { enabled }));
  const first = new Map((secrets.data?.data ?? []).map((secret) => [secret.id, secret]));
  const isAll = !secrets.data || secrets.data.meta.total <= first.size;
  const others = isAll ? [] : ids.filter((id) => !first.has(id)).slice(0, MOST_LOOKED_UP);
  const found = useQueries({ queries: others.map((id) => trpc.secrets.get.queryOptions({ id }, { retry: false })) });
  return new Map([...first, ...found.flatMap(({ data }) => (data ? [[data.id, data] as const] : []))]);
}

/** How a template is read, what is stored of what is typed over it, and how parts of it are read. */
export function useReadable(stored: string) {
  const ids = idsIn(stored);
  const secrets = useSecretNames(ids.length > 0, ids);
  const names = new Map([...secrets].map(([id, { name }]) => [id, name]));
  const read = (text: string) => withNames(text, names);
  return { shown: read(stored), kept: (typed: string) => withIds(typed, stored, names), read };
}
