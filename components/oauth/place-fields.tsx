'use client';

import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import { useTransition } from 'react';
import { Badge } from '#components/ui/badge.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { Field } from '#components/ui/field.tsx';
import { Select } from '#components/ui/select.tsx';
import type { PlaceView } from '#server/domain/oauth-grants/view.shared.ts';

export type PlaceFieldsProps = { place: PlaceView; space: 'live' | 'test'; account: { email: string; name: string } };

/** Who grants, and where: the login belongs to one workspace and space. */
export function PlaceFields({ place, space, account }: PlaceFieldsProps) {
  const { chosen, workspaces } = place;
  const router = useRouter();
  const path = usePathname();
  const query = useSearchParams();
  const [, startTransition] = useTransition();
  const many = workspaces.length > 1;
  return (
    <div className="flex flex-col gap-3 rounded-lg border border-line-strong bg-surface px-4 py-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p className="min-w-0 [overflow-wrap:anywhere]">
          <span className="text-ink-2">Signed in as </span>
          <span className="font-medium">{account.email}</span>
        </p>
        <button
          type="submit"
          name="decision"
          value="switch"
          formNoValidate
          className="shrink-0 cursor-pointer text-accent-ink text-sm hover:underline"
        >
          Use another account
        </button>
      </div>
      {many ? (
        <Field label="Workspace">
          <Select
            options={workspaces.map(({ slug, name, role }) => ({ value: slug, label: `${name} (${capitalize(role)})` }))}
            value={chosen?.slug ?? null}
            placeholder="Choose a workspace"
            // The scopes depend on the role, so the page is asked again.
            onValueChange={(slug) => startTransition(() => router.replace(`${path}?${withWorkspace(query, slug)}`))}
          />
        </Field>
      ) : (
        chosen && (
          <p className="[overflow-wrap:anywhere]">
            <span className="text-ink-2">Workspace </span>
            <span className="font-medium">{chosen.name}</span>
            <span className="text-ink-2">, your role: {capitalize(chosen.role)}</span>
          </p>
        )
      )}
      <p className="flex items-center gap-2">
        <span className="text-ink-2">Space</span>
        <Badge tone={space === 'test' ? 'test' : 'good'}>{space === 'test' ? 'Test' : 'Live'}</Badge>
      </p>
    </div>
  );
}

function withWorkspace(query: URLSearchParams, slug: string): URLSearchParams {
  const next = new URLSearchParams(query);
  next.set('workspace', slug);
  next.delete('problem');
  return next;
}
