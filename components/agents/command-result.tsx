'use client';

import { Status } from '#components/ui/badge.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { type Json, JsonView } from '#components/ui/json-view.tsx';
import { counted } from '#components/ui/numbers.ts';
import type { Command } from './labels.ts';

type Check = { name: string; ok: boolean; detail: string; next_step?: string };
type Finding = { host: string; path: string; line_number?: number; kind: string; first4: string; sha256_prefix: string };

/** What a command answered: checks of doctor, findings of a scan, anything else as it came. What a host reports is text, never markup. */
export function CommandResult({ command }: { command: Pick<Command, 'command' | 'output' | 'error'> }) {
  const { output, error } = command;
  if (error)
    return (
      <Callout tone="bad" title="The command failed">
        {error}
      </Callout>
    );
  if (output === null || output === undefined) return <p className="text-ink-3">No result yet.</p>;
  const { checks, findings } = output as { checks?: Check[]; findings?: Finding[] };
  if (command.command === 'doctor' && Array.isArray(checks)) return <Checks checks={checks} />;
  if (command.command === 'scan' && Array.isArray(findings)) return <Findings findings={findings} />;
  return <JsonView value={output as Json} />;
}

function Checks({ checks }: { checks: readonly Check[] }) {
  return (
    <ul className="flex flex-col gap-1.5">
      {checks.map((check) => (
        <li key={check.name} className="flex flex-col">
          <Status state={check.ok ? 'ok' : 'failing'}>{String(check.name).replaceAll('_', ' ')}</Status>
          <span className="pl-5 text-ink-2 text-xs [overflow-wrap:anywhere]">{String(check.detail)}</span>
          {!check.ok && check.next_step && <span className="pl-5 text-ink-2 text-xs">{String(check.next_step)}</span>}
        </li>
      ))}
    </ul>
  );
}

const SHOWN = 200;

function Findings({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0) return <Status state="ok">No credentials found</Status>;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-ink-2 text-sm">
        {counted(findings.length, 'credential')} on the host. Only the first four characters and a digest were sent here.
      </p>
      <ul className="flex flex-col divide-y divide-line">
        {findings.slice(0, SHOWN).map((one) => (
          <li
            key={`${one.path} ${one.line_number ?? ''} ${one.sha256_prefix}`}
            className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 py-1.5 text-xs"
          >
            <span className="font-medium">{String(one.kind).replaceAll('_', ' ')}</span>
            <span className="font-mono">{String(one.first4)}…</span>
            <span className="min-w-0 grow font-mono text-ink-3 [overflow-wrap:anywhere]">
              {String(one.path)}
              {one.line_number ? `:${one.line_number}` : ''}
            </span>
          </li>
        ))}
      </ul>
      {findings.length > SHOWN && (
        <p className="text-ink-3 text-xs">{counted(findings.length - SHOWN, 'more finding')} in the API’s answer.</p>
      )}
    </div>
  );
}
