'use client';

import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { usePath } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import type { Server } from './server-labels.ts';
import { clientsFor } from './snippets.ts';

/** What to paste into an editor. The token is a placeholder: this page has none. */
export function ConnectTab({ server }: { server: Server }) {
  const path = usePath();
  const clients = clientsFor(server);
  const [chosen, setChosen] = useState<string>(clients[0].id);
  const client = clients.find(({ id }) => id === chosen) ?? clients[0];
  return (
    <Split
      side={
        <SectionCard
          title="Addresses"
          actions={
            <LinkButton size="sm" icon={<KeyRound />} href={path(`/ai/gateways/${server.gateway_id}?tab=tokens&open=mint`)}>
              Mint tool token
            </LinkButton>
          }
        >
          <KeyValueList
            items={[
              { label: 'Connect URL', value: server.connect_url, copy: server.connect_url, hint: 'What clients dial.' },
              { label: 'Resource', value: server.resource, copy: server.resource, hint: 'What tokens are bound to (scope.resource).' },
            ]}
          />
        </SectionCard>
      }
    >
      <SectionCard title="Connect" description="With a tool token, or by signing in where the client knows OAuth.">
        <div className="flex flex-col gap-4">
          <Field label="Client" className="sm:max-w-xs">
            <Select options={clients.map(({ id, label }) => ({ value: id, label }))} value={client.id} onValueChange={setChosen} />
          </Field>
          <p className="text-ink-2">{client.about}</p>
          <CodeBlock key={client.id} snippets={client.snippets} wrap />
        </div>
      </SectionCard>
    </Split>
  );
}
