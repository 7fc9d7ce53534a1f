'use client';

import { Download } from 'lucide-react';
import { useState } from 'react';
import { bytes } from '#components/logs/compare.ts';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPCClient } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { type Json, JsonView } from '#components/ui/json-view.tsx';
import { saveJson } from '#components/ui/save-json.ts';
import type { Approval } from './server-labels.ts';

/** The arguments of a call, whole. The list leaves long ones out: they are fetched when somebody reads or downloads them. */
export function ApprovalArguments({ approval, onWhole }: { approval: Approval; onWhole: () => void }) {
  const client = useTRPCClient();
  const [shown, setShown] = useState<Json>();
  const [busy, setBusy] = useState<'show' | 'save'>();
  const label = `Arguments of ${approval.tool_name}`;
  if (approval.arguments_state === 'whole') return <JsonView value={(approval.arguments ?? {}) as Json} label={label} depth={3} />;
  if (approval.arguments_state === 'unreadable')
    return (
      <Callout tone="warn" title="The arguments can’t be read">
        This workspace’s encryption key is unavailable right now. Nobody can approve what they can’t see.
      </Callout>
    );
  const take = async (what: 'show' | 'save') => {
    setBusy(what);
    try {
      const { arguments: whole } = await client.mcpServers.approval.query({ id: approval.id });
      if (what === 'show') setShown((whole ?? {}) as Json);
      else saveJson(whole, `arguments-${approval.id}.json`);
      onWhole();
    } catch (error) {
      notifyRefused(error);
    } finally {
      setBusy(undefined);
    }
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2 text-ink-2">
        <span>These arguments are long ({bytes(approval.arguments_bytes)}). Read all of them before you approve.</span>
        {shown === undefined && (
          <Button size="sm" loading={busy === 'show'} onClick={() => void take('show')}>
            Show all
          </Button>
        )}
        <Button size="sm" icon={<Download />} loading={busy === 'save'} onClick={() => void take('save')}>
          Download
        </Button>
      </div>
      {shown !== undefined && <JsonView value={shown} label={label} depth={3} />}
    </div>
  );
}
