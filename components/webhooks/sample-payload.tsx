'use client';

import { CodeBlock } from '#components/ui/code-block.tsx';
import { useHydrated } from '#components/ui/use-hydrated.ts';
import { TEST_EVENT } from '#server/domain/events/catalogue.shared.ts';
import { sampleOf } from '#server/domain/webhooks/samples.shared.ts';

type Props = { type: string; webhook?: { id: string; name: string } | undefined };

/** What a receiver gets of an event: the envelope with a sample in it. */
export function SamplePayload({ type, webhook }: Props) {
  // The time is that of the browser, which the server doesn't know.
  if (!useHydrated()) return null;
  const now = new Date();
  const data = type === TEST_EVENT ? { message: 'test delivery', triggered_by: 'dashboard' } : { sample: true, ...sampleOf(type, now) };
  const named = type === 'audit.event' || !webhook ? {} : { webhook_id: webhook.id, webhook_name: webhook.name };
  const times = { timestamp: now.toISOString(), occurred_at: now.toISOString() };
  const envelope = { id: '00000000-0000-7000-8000-000000000000', event: type, ...times, ...named, data };
  return (
    <CodeBlock
      title="Sample of what is sent"
      snippets={[{ id: 'json', label: 'JSON', language: 'json', code: JSON.stringify(envelope, null, 2) }]}
    />
  );
}
