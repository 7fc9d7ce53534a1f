'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { Send, TextSearch } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { METHODS } from '#server/domain/routes/config/schema.ts';
import { credentialQuery } from './list-search.ts';
import { callOf, type ProxyDraft, snippetOf } from './proxy-call.ts';
import { TriedCall } from './tried-call.tsx';

const NONE = 'none';

/** A console for the ephemeral proxy: which placeholders would resolve, and what the upstream answers. Values are nowhere. */
export function TryCall() {
  const trpc = useTRPC();
  const forbidden = useForbidden('proxy:invoke');
  const credentials = useQuery(trpc.wrap.listCredentials.queryOptions(credentialQuery({ page: 1 })));
  const run = useMutation(trpc.wrap.testCall.mutationOptions({ gcTime: 0 }));
  const [draft, setDraft] = useState<ProxyDraft>({ url: 'https://', method: 'GET', secret: NONE, headers: '', body: '', encrypted: '' });
  const set = (change: Partial<ProxyDraft>) => setDraft({ ...draft, ...change });
  const hosts = credentials.data?.data.find(({ name }) => name === draft.secret)?.allowed_hosts;
  const missing = forbidden ?? (/^https:\/\/[^/]/.test(draft.url) ? undefined : 'Enter an https URL first');
  const start = (dry_run: boolean) => run.mutate({ ...callOf(draft), dry_run });
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <SectionCard title="Call">
        <div className="flex flex-col gap-4">
          <div className="grid gap-4 sm:grid-cols-[8rem_1fr]">
            <Field label="Method">
              <Select
                value={draft.method}
                onValueChange={(method) => set({ method })}
                options={METHODS.map((value) => ({ value, label: value }))}
              />
            </Field>
            <Field label="Upstream URL" required>
              <Input mono inputMode="url" value={draft.url} maxLength={8_192} onChange={(event) => set({ url: event.target.value })} />
            </Field>
          </div>
          <Field label="Wrap credential" {...(hosts ? { hint: `Sent to ${hosts.join(', ')} only.` } : {})}>
            <Select
              value={draft.secret}
              onValueChange={(secret) => set({ secret })}
              options={[
                { value: NONE, label: 'None' },
                ...(credentials.data?.data ?? []).map(({ name }) => ({ value: name, label: name })),
              ]}
            />
          </Field>
          <Field label="Headers" optional hint="One per line, such as Accept: application/json.">
            <Textarea mono rows={3} value={draft.headers} onChange={(event) => set({ headers: event.target.value })} />
          </Field>
          <Field label="Body" optional hint="May hold {{ secret: NAME }}, {{ token: tok_… }} and {{ encrypted | json: $.path }}.">
            <Textarea mono rows={6} value={draft.body} onChange={(event) => set({ body: event.target.value })} />
          </Field>
          <Field label="Encrypted value" optional hint="JSON for X-Svc-Encrypted. It is neither stored nor logged.">
            <Textarea mono rows={2} value={draft.encrypted} onChange={(event) => set({ encrypted: event.target.value })} />
          </Field>
          <div className="flex flex-wrap gap-2">
            <Button
              icon={<TextSearch />}
              loading={run.isPending && run.variables.dry_run === true}
              disabledReason={missing}
              onClick={() => start(true)}
            >
              Check placeholders
            </Button>
            <Button
              variant="primary"
              icon={<Send />}
              loading={run.isPending && run.variables.dry_run === false}
              disabledReason={missing}
              onClick={() => start(false)}
            >
              Send
            </Button>
          </div>
          <MutationError error={run.error} />
          <CodeBlock title="From your code" snippets={[{ id: 'curl', label: 'curl', language: 'bash', code: snippetOf(draft) }]} wrap />
        </div>
      </SectionCard>
      <TriedCall report={run.data} sent={run.variables?.dry_run === false} />
    </div>
  );
}
