'use client';

import { useQueries, useQuery } from '@tanstack/react-query';
import { CircleStop, MessagesSquare, SendHorizontal, Trash2 } from 'lucide-react';
import { parseAsString, useQueryState } from 'nuqs';
import { type FormEvent, useState } from 'react';
import { ALL_GATEWAYS, agentsOf } from '#components/ai-gateways/list-search.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Page, PageHeader, SectionCard, Split } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { RunDetails } from './run-details.tsx';
import { type Message, usePlayground } from './use-playground.ts';

/** A conversation with an agent through the real pipeline, streamed, with what it cost and what each stage did. */
export function PlaygroundView() {
  const trpc = useTRPC();
  const path = usePath();
  const forbidden = useForbidden('ai_gateway:mint');
  const [chosen, setChosen] = useQueryState('agent', parseAsString);
  const gateways = useQuery(trpc.aiGateways.list.queryOptions(ALL_GATEWAYS));
  const lists = useQueries({ queries: (gateways.data?.data ?? []).map(({ id }) => trpc.aiGateways.listAgents.queryOptions(agentsOf(id))) });
  const agents = lists.flatMap((list) => list.data?.data ?? []);
  const agent = agents.find(({ id }) => id === chosen) ?? agents[0];
  const [model, setModel] = useState('');
  const [system, setSystem] = useState('');
  const [maxTokens, setMaxTokens] = useState('');
  const [streaming, setStreaming] = useState(true);
  const [turns, setTurns] = useState<readonly Message[]>([]);
  const [draft, setDraft] = useState('');
  const { run, send, stop, reset } = usePlayground();
  const busy = run.state === 'waiting' || run.state === 'streaming';
  const loading = !gateways.data || lists.some((list) => list.isPending);

  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    if (!agent || busy || draft.trim() === '') return;
    const asked: Message[] = [...turns, ...answered(run.answer.text), { role: 'user', content: draft.trim() }];
    setTurns(asked);
    setDraft('');
    await send({
      agent_id: agent.id,
      stream: streaming,
      messages: [...(system.trim() ? [{ role: 'system' as const, content: system.trim() }] : []), ...asked],
      ...(model.trim() ? { model: model.trim() } : {}),
      ...(/^\d+$/.test(maxTokens) ? { max_tokens: Number(maxTokens) } : {}),
    });
  };
  if (gateways.isError) return <QueryError query={gateways} what="Agents" />;
  return (
    <Page>
      <PageHeader
        title="Playground"
        description="Talk to an agent through the real pipeline. Calls are charged to it, and appear in its log."
      />
      {loading ? (
        <Skeleton lines={6} label="Loading agents" />
      ) : !agent ? (
        <EmptyState
          icon={<MessagesSquare />}
          title="No agent to talk to yet"
          action={
            <LinkButton variant="primary" href={path('/ai/agents?open=new')}>
              New agent
            </LinkButton>
          }
        >
          Create an agent with a provider’s key, then try prompts here before you write code.
        </EmptyState>
      ) : (
        <Split
          side={
            <>
              <SectionCard title="Call">
                <div className="flex flex-col gap-4">
                  <Field label="Agent">
                    <Select
                      value={agent.id}
                      onValueChange={(id) => {
                        void setChosen(id);
                        setTurns([]);
                        reset();
                      }}
                      options={agents.map(({ id, name, provider }) => ({ value: id, label: name, detail: provider ?? 'custom' }))}
                    />
                  </Field>
                  <Field label="Model" optional>
                    <Input
                      mono
                      value={model}
                      placeholder={agent.default_model ?? 'model'}
                      onChange={(event) => setModel(event.target.value)}
                    />
                  </Field>
                  <Field label="System prompt" optional>
                    <Textarea rows={3} value={system} onChange={(event) => setSystem(event.target.value)} />
                  </Field>
                  <Field label="Output tokens" optional>
                    <Input
                      inputMode="numeric"
                      value={maxTokens}
                      placeholder="No limit"
                      onChange={(event) => setMaxTokens(event.target.value)}
                    />
                  </Field>
                  <Checkbox label="Stream the answer" checked={streaming} onCheckedChange={setStreaming} />
                </div>
              </SectionCard>
              <RunDetails run={run} />
            </>
          }
        >
          <SectionCard
            title="Conversation"
            description="Each message mints a token for one call and uses it up. No token reaches this page."
            actions={
              <Button
                size="sm"
                icon={<Trash2 />}
                disabledReason={busy ? 'Stop the answer first' : turns.length === 0 ? 'Nothing to clear' : undefined}
                onClick={() => {
                  setTurns([]);
                  reset();
                }}
              >
                Clear
              </Button>
            }
          >
            <div className="flex flex-col gap-4">
              <ol aria-label="Messages" className="flex flex-col gap-3">
                {turns.map((turn, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: turns are only ever added at the end.
                  <Turn key={index} message={turn} />
                ))}
                {(run.answer.text !== '' || busy) && <Turn message={{ role: 'assistant', content: run.answer.text || '…' }} />}
              </ol>
              {run.answer.refusal && (
                <Callout tone="bad" title={run.answer.refusal.message} requestId={run.request_id}>
                  <span className="font-mono text-xs">{run.answer.refusal.code}</span>
                  {run.answer.refusal.retry_at !== undefined && (
                    <>
                      : try again after <Time value={run.answer.refusal.retry_at} format="datetime" />
                    </>
                  )}
                </Callout>
              )}
              <form className="flex flex-col gap-2" onSubmit={(event) => void submit(event)}>
                <Textarea
                  aria-label="Message"
                  rows={3}
                  value={draft}
                  placeholder="Say hello"
                  onChange={(event) => setDraft(event.target.value)}
                  onKeyDown={(event) => {
                    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void submit();
                  }}
                />
                <div className="flex gap-2">
                  <Button
                    type="submit"
                    variant="primary"
                    icon={<SendHorizontal />}
                    keys="mod+enter"
                    loading={busy}
                    disabledReason={forbidden ?? (draft.trim() === '' ? 'Write a message first' : undefined)}
                  >
                    Send
                  </Button>
                  {busy && (
                    <Button icon={<CircleStop />} onClick={stop}>
                      Stop
                    </Button>
                  )}
                </div>
              </form>
            </div>
          </SectionCard>
        </Split>
      )}
    </Page>
  );
}

const answered = (text: string): Message[] => (text === '' ? [] : [{ role: 'assistant', content: text }]);

const Turn = ({ message }: { message: Message }) => (
  <li className="flex flex-col gap-1">
    <span className="text-2xs text-ink-3">{message.role === 'user' ? 'You' : 'Agent'}</span>
    <span
      className={
        message.role === 'user'
          ? 'whitespace-pre-wrap rounded-lg bg-subtle px-3 py-2 [overflow-wrap:anywhere]'
          : 'whitespace-pre-wrap [overflow-wrap:anywhere]'
      }
    >
      {message.content}
    </span>
  </li>
);
