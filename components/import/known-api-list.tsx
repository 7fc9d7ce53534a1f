'use client';

import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Input } from '#components/ui/input.tsx';
import { textLink } from '#components/ui/layout.tsx';
import type { Proposal } from '#server/domain/import/schema.ts';
import { KNOWN_APIS, KNOWN_APIS_CHECKED_ON, type KnownApi, proposalOf } from './known-apis.ts';

/** Common APIs: choosing one leaves only its credential to enter. */
export function KnownApiList({ onChoose }: { onChoose: (proposal: Proposal) => void }) {
  const trpc = useTRPC();
  const readOnly = useForbidden('route:create');
  const [text, setText] = useState('');
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100, sort: 'name', order: 'asc' }));
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 100 }));
  const shown = KNOWN_APIS.filter((api) => `${api.name} ${api.about}`.toLowerCase().includes(text.trim().toLowerCase()));
  const taken = {
    routes: new Set(routes.data?.data.map((route) => route.name)),
    secrets: new Set(secrets.data?.data.map((secret) => secret.name)),
  };
  return (
    <div className="flex flex-col gap-3">
      <Input
        aria-label="Search APIs"
        placeholder="Search APIs"
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="max-w-80"
      />
      {shown.length === 0 && <p className="text-ink-3">No matching API. Paste a curl command instead, or create a route manually.</p>}
      <ul className="grid grid-cols-1 gap-2 sm:grid-cols-2">
        {shown.map((api) => (
          <li key={api.name} className="flex items-center gap-3 rounded-lg border border-line-strong bg-surface p-3">
            <Mark {...api.mark} />
            <div className="min-w-0 flex-1">
              <p className="font-medium">{api.name}</p>
              <p className="text-ink-3 text-xs [overflow-wrap:anywhere]">
                {api.about} · {new URL(api.target_base_url).host}
              </p>
              <a href={api.docs} target="_blank" rel="noreferrer" className={textLink}>
                <span className="inline-flex items-center gap-1 text-xs">
                  API key docs
                  <ExternalLink aria-hidden className="size-3" />
                  <span className="sr-only">, opens in a new tab</span>
                </span>
              </a>
            </div>
            <Button
              size="sm"
              aria-label={`Use ${api.name}`}
              disabledReason={readOnly}
              loading={routes.isPending || secrets.isPending}
              onClick={() => onChoose(proposalOf(api, taken))}
            >
              Use
            </Button>
          </li>
        ))}
      </ul>
      <p className="text-ink-3 text-xs">
        Checked against each provider’s documentation on <time dateTime={KNOWN_APIS_CHECKED_ON}>{KNOWN_APIS_CHECKED_ON}</time>.
      </p>
    </div>
  );
}

function Mark({ letters, color }: KnownApi['mark']) {
  return (
    <span
      aria-hidden
      className="inline-flex size-8 shrink-0 select-none items-center justify-center rounded-md font-semibold text-[#fff] text-xs"
      style={{ backgroundColor: color }}
    >
      {letters}
    </span>
  );
}
