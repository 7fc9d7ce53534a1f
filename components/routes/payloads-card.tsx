'use client';

import { useQuery } from '@tanstack/react-query';
import { ScanSearch } from 'lucide-react';
import { useState } from 'react';
import { daysKept } from '#components/settings/retention-text.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { PAYLOAD_DAYS } from '#server/domain/request-logs/payloads/stored.shared.ts';
import { CaptureDialog } from './capture-dialog.tsx';
import { Setting } from './setting.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

const MODES = {
  off: { label: 'Off', detail: 'Only names of headers and sizes of bodies are logged' },
  errors: { label: 'Failed calls', detail: 'Status 400 and above, and calls the gateway refused' },
  all: { label: 'All calls', detail: 'Every call that was let in' },
} as const;
type Mode = keyof typeof MODES | 'default';

/** Which payloads of an environment are kept with its log, and a look at what a caller sends. */
export function PayloadsCard({ editor }: { editor: ConfigEditor }) {
  const trpc = useTRPC();
  const [checking, setChecking] = useState(false);
  const settings = useQuery({ ...trpc.account.settings.queryOptions({}), staleTime: 60_000 });
  const usual = settings.data && MODES[settings.data.log_payloads_default].label;
  return (
    <SectionCard title="Payloads" description="What callers send and get, kept with the log so that you can look into a call later.">
      <div className="flex flex-col gap-5">
        <Setting editor={editor} field="log_payloads" label="Keep payloads of" hint={<WhatIsKept />}>
          {({ value, set, disabled }) => (
            <Select<Mode>
              options={[
                // On an override "as the workspace" is what the base says, unless the base says otherwise.
                ...(editor.isBase || value === null
                  ? [{ value: 'default' as const, label: usual ? `Workspace default (${usual.toLowerCase()})` : 'Workspace default' }]
                  : []),
                ...(['off', 'errors', 'all'] as const).map((mode) => ({ value: mode, ...MODES[mode] })),
              ]}
              value={value ?? 'default'}
              onValueChange={(mode) => set(mode === 'default' ? null : mode)}
              disabled={disabled}
              className="max-w-72"
            />
          )}
        </Setting>
        <div className="flex flex-col items-start gap-2">
          <p className="text-ink-2">To see what a caller sends, without calling the upstream, let them send one request to a link.</p>
          <Button icon={<ScanSearch />} disabledReason={editor.readOnly} onClick={() => setChecking(true)}>
            Check a request
          </Button>
        </div>
      </div>
      <CaptureDialog open={checking} onOpenChange={setChecking} routeId={editor.routeId} environment={editor.env} />
    </SectionCard>
  );
}

function WhatIsKept() {
  const trpc = useTRPC();
  const usage = useQuery({ ...trpc.account.usage.queryOptions({}), staleTime: 300_000 });
  const days = usage.data && Math.min(usage.data.log_retention_days ?? PAYLOAD_DAYS, PAYLOAD_DAYS);
  return (
    <>
      Headers and the first 32 KiB of each body, encrypted, {days ? `for ${daysKept(days)}` : 'for as long as the log, at most 30 days'}.
      Credentials, card numbers and values of secrets are masked before anything is stored. Owners and Admins can reveal one call at a time,
      and every reveal is recorded.
    </>
  );
}
