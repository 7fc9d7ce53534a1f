'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { type Json, JsonView } from '#components/ui/json-view.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Server, Tool } from './server-labels.ts';

type Props = { server: Server; tool: Tool | undefined; open: boolean; onClose: () => void };

/** One tool: what it is, what is decided about it, and what has changed since it was approved. */
export function ToolSheet({ server, tool, open, onClose }: Props) {
  return (
    <Sheet open={open} onOpenChange={(next) => next || onClose()} title={tool?.tool_name ?? 'Tool'} size="lg">
      {tool && <ToolDetails key={`${tool.id}${tool.updated_at}`} server={server} tool={tool} />}
    </Sheet>
  );
}

function ToolDetails({ server, tool }: { server: Server; tool: Tool }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('ai_gateway:update');
  const [description, setDescription] = useState(tool.description ?? '');
  const [price, setPrice] = useState(tool.price_per_call_usd ?? '');
  const [rules, setRules] = useState(JSON.stringify(tool.argument_rules, null, 2));
  const [problem, setProblem] = useState<string>();
  const done = (text: string) => () => {
    notifyDone(text);
    return queryClient.invalidateQueries(trpc.mcpServers.pathFilter());
  };
  const refused = { onError: (error: unknown) => notifyRefused(error) };
  const save = useMutation(trpc.mcpServers.tool_update.mutationOptions({ onSuccess: done('Tool saved') }));
  const toggle = useMutation(trpc.mcpServers.tool_update.mutationOptions({ ...refused, onSuccess: done('Tool saved') }));
  const pin = useMutation(trpc.mcpServers.tool_update.mutationOptions({ ...refused, onSuccess: done('Definition approved') }));
  const ref = { id: server.id, toolId: tool.id };
  const schema = tool.input_schema ?? (tool.upstream_tool?.inputSchema as object | undefined) ?? {};
  const saveAll = () => {
    let argument_rules: Tool['argument_rules'];
    try {
      argument_rules = JSON.parse(rules);
    } catch {
      setProblem('must be valid JSON');
      return;
    }
    setProblem(undefined);
    save.mutate({
      ...ref,
      argument_rules,
      description: description === '' ? null : description,
      price_per_call_usd: price === '' ? null : price,
    });
  };
  return (
    <div className="flex flex-col gap-4">
      {tool.poisoning.length > 0 && (
        <Callout tone="bad" title="Its text looks like an attempt to steer the model">
          Rules: {tool.poisoning.join(', ')}. Clients don’t see the tool while this is so.
        </Callout>
      )}
      {tool.pin_state === 'changed' && <Changed tool={tool} />}
      {tool.upstream_hash !== null && tool.pin_state !== 'pinned' && (
        <div>
          <Button
            variant="primary"
            loading={pin.isPending}
            disabledReason={forbidden}
            onClick={() => pin.mutate({ ...ref, pinned_hash: tool.upstream_hash })}
          >
            {tool.pin_state === 'changed' ? 'Approve the new definition' : 'Approve and pin this definition'}
          </Button>
        </div>
      )}
      <SectionCard title="Calls">
        <div className="flex flex-col gap-3">
          <Switch
            label="Enabled"
            description="A disabled tool is neither listed nor called."
            checked={tool.enabled}
            disabledReason={forbidden}
            onCheckedChange={(enabled) => toggle.mutate({ ...ref, enabled })}
          />
          <Switch
            label="Ask a person before each call"
            description="A call waits up to two minutes for an Owner, Admin or Editor."
            checked={tool.approval === 'required'}
            disabledReason={forbidden}
            onCheckedChange={(on) => toggle.mutate({ ...ref, approval: on ? 'required' : 'none' })}
          />
        </div>
      </SectionCard>
      <SectionCard title="Settings">
        <div className="flex flex-col gap-4">
          <Field label="Description" optional hint="What clients see in place of the upstream’s text.">
            <Textarea
              rows={3}
              value={description}
              onChange={({ target }) => setDescription(target.value)}
              placeholder={String(tool.upstream_tool?.description ?? '')}
            />
          </Field>
          <Field
            label="Argument rules"
            error={problem}
            hint="A list of rules with path, op (matches, in, max or forbid) and value. Every rule must hold."
          >
            <Textarea mono rows={6} value={rules} onChange={({ target }) => setRules(target.value)} spellCheck={false} />
          </Field>
          <Field label="Price per call" optional hint="Counts in usage and in the gateway’s budgets.">
            <Input
              mono
              inputMode="decimal"
              suffix="USD"
              className="sm:w-40"
              value={price}
              onChange={({ target }) => setPrice(target.value)}
            />
          </Field>
          {save.error && <MutationError error={save.error} />}
          <div>
            <Button loading={save.isPending} disabledReason={forbidden} onClick={saveAll}>
              Save settings
            </Button>
          </div>
          <ApiEquivalent
            method="PATCH"
            path={`/ai-gateway/mcp-servers/${server.id}/tools/${tool.id}`}
            body={{ argument_rules: tool.argument_rules }}
          />
        </div>
      </SectionCard>
      <SectionCard title="Arguments">
        <JsonView value={schema as Json} label="Input schema" />
      </SectionCard>
      <SectionCard title="Try it" description="With a tool token of this server, through the same pipeline as every client.">
        <CodeBlock wrap snippets={[{ id: 'curl', label: 'cURL', language: 'bash', code: curlFor(server, tool) }]} />
      </SectionCard>
    </div>
  );
}

/** The approved definition beside the one that the upstream gives now. */
function Changed({ tool }: { tool: Tool }) {
  return (
    <Callout tone="bad" title="The upstream changed this tool">
      <div className="grid gap-3 sm:grid-cols-2">
        <div className="min-w-0">
          <p className="mb-1 font-medium">Approved</p>
          <JsonView value={acted(tool.pinned_tool ?? {})} label="Approved definition" depth={4} />
        </div>
        <div className="min-w-0">
          <p className="mb-1 font-medium">Now</p>
          <JsonView value={acted(tool.upstream_tool ?? {})} label="Current definition" depth={4} />
        </div>
      </div>
    </Callout>
  );
}

/** What a model acts on. */
const acted = ({ name, description, inputSchema, outputSchema }: Record<string, unknown> = {}): Json =>
  Object.fromEntries(Object.entries({ name, description, inputSchema, outputSchema }).filter(([, member]) => member !== undefined)) as Json;

const curlFor = (server: Server, tool: Tool) =>
  `curl ${server.connect_url} \\\n  -H "Authorization: Bearer svcp_YOUR_TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: ${tool.tool_name}' \\\n  -d '${JSON.stringify(
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: tool.tool_name,
        arguments: {},
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    },
  )}'`;
