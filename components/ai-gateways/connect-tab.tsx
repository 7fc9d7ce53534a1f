'use client';

import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { LinkButton } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { type Agent, openaiBase } from './ai-labels.ts';
import { toolsFor } from './snippets.ts';

/** What to paste into an SDK or editor. The token is a placeholder: this page has none. */
export function ConnectTab({ agent }: { agent: Agent }) {
  const tools = toolsFor({ agent_url: agent.agent_url, model: agent.default_model ?? 'MODEL' });
  const [chosen, setChosen] = useState(tools[0].id);
  const tool = tools.find(({ id }) => id === chosen) ?? tools[0];
  return (
    <Split
      side={
        <SectionCard
          title="Addresses"
          actions={
            <LinkButton size="sm" icon={<KeyRound />} href="?tab=tokens&open=mint">
              Mint token
            </LinkButton>
          }
        >
          <KeyValueList
            items={[
              { label: 'OpenAI base URL', value: openaiBase(agent), copy: openaiBase(agent) },
              { label: 'Anthropic and Google base URL', value: agent.agent_url, copy: agent.agent_url },
              { label: 'Default model', value: agent.default_model },
            ]}
          />
        </SectionCard>
      }
    >
      <SectionCard
        title="Connect"
        description="Your tools keep working as they are. A capability token takes the place of the provider’s key."
      >
        <div className="flex flex-col gap-4">
          <Field label="Tool" className="sm:max-w-xs">
            <Select options={tools.map(({ id, label }) => ({ value: id, label }))} value={tool.id} onValueChange={setChosen} />
          </Field>
          <p className="text-ink-2">{tool.about}</p>
          <CodeBlock key={tool.id} snippets={tool.snippets} wrap />
        </div>
      </SectionCard>
    </Split>
  );
}
