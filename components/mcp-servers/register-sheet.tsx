'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import { SecretChips, SecretPicker } from '#components/routes/secret-picker.tsx';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';

const NewServer = z.object({
  gateway: z.string(),
  name: z.string().trim().min(1, 'must not be empty').max(100),
  slug: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be lowercase letters, digits and dashes'),
  server_type: z.enum(['upstream', 'collection', 'toolset']),
  upstream_url: z.string().max(2048),
  signs_in: z.enum(['none', 'secret', 'people']),
  header: z.string().max(128),
  description: z.string().max(1_000),
});

type Props = { open: boolean; onClose: () => void; onCreated: (id: string) => void };

/** Registers a server; what it offers is found by a probe, and picked on its page. */
export function RegisterSheet({ open, onClose, onCreated }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="Register MCP server"
      description="The server is asked for its tools next. Clients see those that you allow then."
    >
      {open && <RegisterForm onClose={onClose} onCreated={onCreated} />}
    </Sheet>
  );
}

function RegisterForm({ onClose, onCreated }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const path = usePath();
  const { space } = useScope();
  const [template, setTemplate] = useState('');
  const gateways = useQuery(trpc.mcpServers.gateways.queryOptions({}));
  const choices = gateways.data?.data ?? [];
  const form = useZodForm({
    schema: NewServer,
    defaultValues: {
      gateway: '',
      name: '',
      slug: '',
      server_type: 'upstream',
      upstream_url: '',
      signs_in: 'secret',
      header: 'Authorization',
      description: '',
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.mcpServers.create.mutationOptions({
      onError: refuse,
      onSuccess: ({ id, name }) => {
        void queryClient.invalidateQueries(trpc.mcpServers.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`MCP server ${name} registered`);
        onCreated(id);
      },
    }),
  );
  const values = form.watch();
  const gateway = values.gateway || (choices[0]?.id ?? '');
  const gatewayInCode = gateway || 'GATEWAY';
  const upstream = values.server_type === 'upstream';
  const prefix = /^authorization$/i.test(values.header) ? 'Bearer ' : '';
  const auth =
    !upstream || values.signs_in === 'none'
      ? {}
      : values.signs_in === 'people'
        ? { oauth: { mode: 'per_user' as const, scopes: [] } }
        : template === ''
          ? {}
          : { headers: { [values.header]: `${prefix}${template}` } };
  const inputOf = ({ name, slug, server_type, upstream_url, description }: z.output<typeof NewServer>) => ({
    name,
    slug,
    ...(upstream ? { upstream_url } : { server_type }),
    ...(Object.keys(auth).length > 0 ? { auth } : {}),
    ...(description === '' ? {} : { description }),
  });
  if (gateways.data && choices.length === 0)
    return (
      <Callout tone="info" title="Create an AI gateway first" actions={<LinkButton href={path('/ai?open=new')}>Create gateway</LinkButton>}>
        An MCP server belongs to a gateway, whose budgets and kill switch apply to it.
      </Callout>
    );
  return (
    <Form
      form={form}
      onSubmit={(value) => {
        clear();
        create.mutate({ id: gateway, ...inputOf(value) });
      }}
      refusal={refusal}
      className="grow"
    >
      {panel}
      <Field group label="Tools come from">
        <RadioCards
          columns={2}
          value={values.server_type}
          onValueChange={(next) => form.setValue('server_type', next, { shouldDirty: true })}
          options={[
            { value: 'upstream', title: 'A remote server', description: 'Calls go to its URL.' },
            { value: 'collection', title: 'Your routes', description: 'By hand, or from an OpenAPI description.' },
            { value: 'toolset', title: 'Other servers', description: 'A selection of their tools, at one address.' },
          ]}
        />
      </Field>
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input
          placeholder="Issue tracker"
          autoComplete="off"
          {...form.register('name', {
            onChange: ({ target }) => {
              if (!form.formState.dirtyFields.slug) form.setValue('slug', slugOf(target.value));
            },
          })}
        />
      </Field>
      <Field label="Slug" required error={fieldError(form, 'slug')} hint="Part of the address that clients use. It can’t be changed.">
        <Input mono placeholder="issues" autoComplete="off" {...form.register('slug')} />
      </Field>
      {choices.length > 1 && (
        <Field label="Gateway" error={fieldError(form, 'gateway')} hint="Its budgets and kill switch apply.">
          <Select
            options={choices.map(({ id, name }) => ({ value: id, label: name }))}
            value={gateway}
            onValueChange={(next) => form.setValue('gateway', next, { shouldDirty: true })}
          />
        </Field>
      )}
      {upstream && (
        <>
          <Field
            label="URL"
            required
            error={fieldError(form, 'upstream_url')}
            hint="The address of its MCP endpoint. A server in your own network works too, once the operator has opened its address."
          >
            <Input mono type="url" placeholder="https://mcp.example.com/mcp" autoComplete="off" {...form.register('upstream_url')} />
          </Field>
          <Field group label="Signs in with">
            <RadioCards
              columns={1}
              value={values.signs_in}
              onValueChange={(next) => form.setValue('signs_in', next, { shouldDirty: true })}
              options={[
                { value: 'secret', title: 'A stored secret', description: 'Every call carries the same credential.' },
                { value: 'people', title: 'People’s own accounts', description: 'Each person connects their account by OAuth.' },
                { value: 'none', title: 'Nothing', description: 'The server is open.' },
              ]}
            />
          </Field>
          {values.signs_in === 'secret' && (
            <div className="grid gap-3 sm:grid-cols-2">
              <Field label="Header" error={fieldError(form, 'header')}>
                <Input mono autoComplete="off" {...form.register('header')} />
              </Field>
              <Field label="Secret" group>
                {template === '' ? (
                  <SecretPicker label="Secret" onPick={setTemplate} />
                ) : (
                  <Chosen template={template} onClear={() => setTemplate('')} />
                )}
              </Field>
            </div>
          )}
        </>
      )}
      <Field label="Description" optional error={fieldError(form, 'description')} hint="Models get it as instructions.">
        <Textarea rows={2} {...form.register('description')} />
      </Field>
      <ApiEquivalent
        method="POST"
        path={`/ai-gateway/gateways/${gatewayInCode}/mcp-servers`}
        body={inputOf({ ...values, name: values.name || 'NAME' })}
      />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Register server
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}

const Chosen = ({ template, onClear }: { template: string; onClear: () => void }) => (
  <span className="flex items-center gap-2">
    <SecretChips template={template} />
    <Button size="sm" onClick={onClear}>
      Change
    </Button>
  </span>
);

const slugOf = (name: string) =>
  name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .join('-')
    .slice(0, 63);
