'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Server } from './server-labels.ts';

type Props = { server: Server; open: boolean; onClose: () => void };
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** One call of a route as a tool. */
export function FromRouteSheet({ server, open, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title="Add tool from route"
      description="The route injects the credential and applies its limits."
    >
      {open && <FromRouteForm server={server} onClose={onClose} />}
    </Sheet>
  );
}

function FromRouteForm({ server, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }));
  const [route, setRoute] = useState('');
  const [method, setMethod] = useState<(typeof METHODS)[number]>('GET');
  const [path, setPath] = useState('/');
  const [name, setName] = useState('');
  const add = useMutation(
    trpc.mcpServers.tool_from_route.mutationOptions({
      onSuccess: ({ tool_name }) => {
        notifyDone(`Tool ${tool_name} added`);
        onClose();
        return queryClient.invalidateQueries(trpc.mcpServers.pathFilter());
      },
    }),
  );
  const route_id = route || (routes.data?.data[0]?.id ?? '');
  return (
    <form
      className="flex grow flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ id: server.id, route_id, method, path, name });
      }}
    >
      <Field label="Route">
        <Select
          options={(routes.data?.data ?? []).map(({ id, name: label }) => ({ value: id, label }))}
          value={route_id}
          onValueChange={setRoute}
        />
      </Field>
      <Field label="Method">
        <Select options={METHODS.map((one) => ({ value: one, label: one }))} value={method} onValueChange={setMethod} />
      </Field>
      <Field label="Path" hint="{name} becomes an argument that stays within its segment.">
        <Input mono value={path} placeholder="/users/{id}" onChange={({ target }) => setPath(target.value)} />
      </Field>
      <Field label="Tool name" required>
        <Input mono value={name} placeholder="get_user" onChange={({ target }) => setName(target.value)} />
      </Field>
      {add.error && <MutationError error={add.error} />}
      <ApiEquivalent
        method="POST"
        path={`/ai-gateway/mcp-servers/${server.id}/tools/from-route`}
        body={{ route_id, method, path, name: name || 'NAME' }}
      />
      <SheetFooter>
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            loading={add.isPending}
            disabledReason={route_id === '' ? 'Create a route first' : undefined}
          >
            Add tool
          </Button>
        </div>
      </SheetFooter>
    </form>
  );
}
