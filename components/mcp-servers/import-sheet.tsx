'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Server } from './server-labels.ts';

type Props = { server: Server; open: boolean; onClose: () => void };

/** Turns operations of an API into tools: first shown, then imported. */
export function ImportSheet({ server, open, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      size="lg"
      title="Import OpenAPI"
      description="Each operation becomes a tool. Calls go to the route, whatever servers the description names."
    >
      {open && <ImportForm server={server} onClose={onClose} />}
    </Sheet>
  );
}

function ImportForm({ server, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }));
  const [route, setRoute] = useState('');
  const [source, setSource] = useState('');
  const [prefix, setPrefix] = useState('');
  const preview = useMutation(trpc.mcpServers.import_openapi.mutationOptions({}));
  const apply = useMutation(
    trpc.mcpServers.import_openapi.mutationOptions({
      onSuccess: ({ tools }) => {
        notifyDone(`${counted(tools.length, 'tool')} imported, disabled`);
        onClose();
        return queryClient.invalidateQueries(trpc.mcpServers.pathFilter());
      },
    }),
  );
  const route_id = route || (routes.data?.data[0]?.id ?? '');
  const given = /^https?:\/\/\S+$/.test(source.trim()) ? { url: source.trim() } : { document: source };
  const body = { route_id, ...given, ...(prefix === '' ? {} : { prefix }) };
  const input = { id: server.id, ...body };
  const found = preview.data;
  const failed = apply.error ?? preview.error;
  return (
    <div className="flex grow flex-col gap-4">
      <Field label="Route" hint="It holds the upstream’s address and injects the credential.">
        <Select
          options={(routes.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={route_id}
          onValueChange={setRoute}
        />
      </Field>
      <Field label="Description" hint="A URL, or the JSON or YAML itself. OpenAPI 3.0 or 3.1.">
        <Textarea
          mono
          rows={6}
          value={source}
          spellCheck={false}
          placeholder="https://api.example.com/openapi.json"
          onChange={({ target }) => {
            setSource(target.value);
            preview.reset();
          }}
        />
      </Field>
      <Field label="Prefix of tool names" optional>
        <Input mono className="sm:w-60" value={prefix} placeholder="crm_" onChange={({ target }) => setPrefix(target.value)} />
      </Field>
      {failed && <MutationError error={failed} />}
      {found && (
        <SectionCard title={`${counted(found.tools.length, 'tool')}, ${found.skipped.length} skipped`}>
          <ul className="flex max-h-80 flex-col gap-1.5 overflow-y-auto">
            {found.tools.map((tool) => (
              <li key={tool.tool_name} className="flex min-w-0 items-baseline gap-2">
                <span className="shrink-0 font-mono text-xs">{tool.tool_name}</span>
                {tool.exists && <Badge tone="warn">Replaces</Badge>}
                <span className="truncate text-ink-2">{tool.description}</span>
              </li>
            ))}
            {found.skipped.map(({ operation, reason }) => (
              <li key={operation} className="flex min-w-0 items-baseline gap-2 text-ink-3">
                <span className="shrink-0 font-mono text-xs line-through">{operation}</span>
                <span className="truncate">{reason}</span>
              </li>
            ))}
          </ul>
        </SectionCard>
      )}
      <ApiEquivalent
        method="POST"
        path={`/ai-gateway/mcp-servers/${server.id}/tools/import-openapi`}
        body={{ ...body, dry_run: found === undefined }}
      />
      <SheetFooter>
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          {found ? (
            <Button variant="primary" loading={apply.isPending} onClick={() => apply.mutate({ ...input, dry_run: false })}>
              Import {counted(found.tools.length, 'tool')}
            </Button>
          ) : (
            <Button
              variant="primary"
              loading={preview.isPending}
              disabledReason={
                source.trim() === '' ? 'Paste a description or its URL first' : route_id === '' ? 'Create a route first' : undefined
              }
              onClick={() => preview.mutate(input)}
            >
              Preview
            </Button>
          )}
        </div>
      </SheetFooter>
    </div>
  );
}
