'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { Combobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import {
  CONTENT_TYPES,
  type Direction,
  FIELD_ACTION_NAMES,
  FIELD_ACTIONS,
  type FieldActionName,
  keyTypesOf,
  type Location,
  type Mask,
  type Mode,
} from '#server/domain/routes/actions/rules.shared.ts';
import type { FieldAction as Wire } from '#server/domain/routes/actions/schema.ts';
import { ACTION_WORDS, placeInWords, TYPE_WORDS } from './field-action-words.ts';

type FieldAction = z.output<typeof Wire>;

const FORM = 'field-action-form';
const MASK_WORDS: Readonly<Record<Mask, string>> = {
  last4: 'All but the last four characters',
  full: 'Everything',
  email: 'All of an email address but its domain',
};

/** Adds a field action to a route, or changes `edited`. The service judges selectors, keys and vaults; what it refuses is shown below the fields. */
export function FieldActionSheet({ routeId, edited, onClose }: { routeId: string; edited?: FieldAction | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [action, setAction] = useState<FieldActionName>(edited?.action ?? 'encrypt');
  const [direction, setDirection] = useState<Direction>(edited?.direction ?? 'response');
  const [location, setLocation] = useState<Location>(edited?.location ?? 'body');
  const [type, setType] = useState<(typeof CONTENT_TYPES)[number]>(edited?.content_type ?? 'application/json');
  const [selectors, setSelectors] = useState((edited?.selectors ?? []).join('\n'));
  const [key, setKey] = useState<string | null>(edited?.key_name ?? null);
  const [role, setRole] = useState(edited?.data_role ?? '');
  const [mode, setMode] = useState<Mode>(edited?.mode ?? 'strict');
  const [mask, setMask] = useState<Mask>(edited?.mask ?? 'last4');
  const [header, setHeader] = useState(edited?.signature_header ?? 'X-Signature');
  const { takes } = FIELD_ACTIONS[action];
  const signs = action === 'sign';
  const place: Location = signs || (location === 'query' && direction === 'response') ? 'body' : location;
  const keys = useQuery(trpc.cryptoKeys.list.queryOptions({}, { enabled: takes === 'key' }));
  const vaults = useQuery(trpc.vaults.list.queryOptions({ per_page: 100 }, { enabled: takes === 'vault' }));
  const options =
    takes === 'vault'
      ? (vaults.data?.data ?? []).map(({ name, token_format }) => ({ value: name, label: name, detail: token_format }))
      : (keys.data?.data ?? [])
          .filter(({ key_type, managed_by }) => managed_by !== 'vault' && keyTypesOf(action).includes(key_type))
          .map(({ name, key_type }) => ({ value: name, label: name, detail: key_type }));
  const input = {
    direction,
    action,
    location: place,
    selectors: selectors
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
    mode,
    ...(place === 'body' ? { content_type: type } : {}),
    ...(takes === null ? {} : { key_name: key }),
    ...(action === 'mask' ? { mask } : {}),
    ...(signs ? { signature_header: header } : {}),
    ...((action === 'encrypt' || action === 'decrypt') && role !== '' ? { data_role: role } : {}),
  };
  const saved = {
    onSuccess: async () => {
      notifyDone(edited ? 'Field action saved' : 'Field action added');
      await cache.invalidateQueries(trpc.routes.pathFilter());
      onClose();
    },
  };
  const create = useMutation(trpc.routes.createAction.mutationOptions(saved));
  const update = useMutation(trpc.routes.updateAction.mutationOptions(saved));
  const { direction: _, action: __, location: ___, ...settings } = input;
  // An emptied role is taken away; what is only left out stays.
  const changes = 'data_role' in settings || !edited?.data_role ? settings : { ...settings, data_role: null };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (edited) update.mutate({ id: routeId, actionId: edited.id, ...changes });
    else create.mutate({ id: routeId, ...input });
  };
  const kind = takes === 'vault' ? 'Vault' : 'Crypto key';
  return (
    <Sheet
      open
      onOpenChange={(next) => next || onClose()}
      title={edited ? `${ACTION_WORDS[edited.action].label} ${edited.selectors.join(', ')}` : 'Add field action'}
      description="It applies from the next call. You need the right to use the key or vault yourself."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" loading={create.isPending || update.isPending}>
            {edited ? 'Save' : 'Add action'}
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit} className="flex flex-col gap-5">
        {edited ? (
          <p className="text-ink-2">
            {capitalize(placeInWords(edited))}. Action, direction and location can’t be changed: add another action instead.
          </p>
        ) : (
          <>
            <Field label="Action">
              <Select
                value={action}
                onValueChange={(next) => {
                  setAction(next);
                  setKey(null);
                }}
                options={FIELD_ACTION_NAMES.map((value) => ({ value, ...ACTION_WORDS[value] }))}
              />
            </Field>
            <Field label="Direction" group>
              <Segmented
                label="Direction"
                value={direction}
                onValueChange={setDirection}
                options={[
                  { value: 'request', label: 'Request' },
                  { value: 'response', label: 'Response' },
                ]}
              />
            </Field>
            {!signs && (
              <Field label="Location" group>
                <Segmented
                  label="Location"
                  value={place}
                  onValueChange={setLocation}
                  options={[
                    { value: 'body', label: 'Body' },
                    { value: 'header', label: 'Header' },
                    ...(direction === 'request' ? [{ value: 'query' as const, label: 'Query' }] : []),
                  ]}
                />
              </Field>
            )}
          </>
        )}
        {place === 'body' && (
          <Field label="Media type" hint="Bodies of another type are refused by actions that protect values.">
            <Select
              value={type}
              onValueChange={setType}
              options={CONTENT_TYPES.map((value) => ({ value, label: TYPE_WORDS[value], detail: value }))}
            />
          </Field>
        )}
        <Field
          label="Values"
          required
          hint={
            place === 'body'
              ? 'One selector per line, such as $.card.number, $.items[*].ssn or $..email. $ is everything.'
              : 'One selector per line, such as $.X-Card-Number.'
          }
        >
          <Textarea
            mono
            rows={3}
            required
            value={selectors}
            onChange={(event) => setSelectors(event.target.value)}
            placeholder="$.card.number"
          />
        </Field>
        {takes !== null && (
          <Field
            label={kind}
            required
            hint={options.length === 0 ? `No ${kind.toLowerCase()} in this space fits this action yet.` : undefined}
          >
            <Combobox options={options} value={key} onValueChange={setKey} placeholder={`Choose a ${kind.toLowerCase()}…`} />
          </Field>
        )}
        {(action === 'encrypt' || action === 'decrypt') && (
          <Field label="Data role" optional hint="Bound into the sealed value. The same role is required to decrypt it.">
            <Input value={role} onChange={(event) => setRole(event.target.value)} placeholder="pci" />
          </Field>
        )}
        {action === 'mask' && (
          <Field label="Hide">
            <Select
              value={mask}
              onValueChange={setMask}
              options={(Object.keys(MASK_WORDS) as Mask[]).map((value) => ({ value, label: MASK_WORDS[value] }))}
            />
          </Field>
        )}
        {signs && (
          <Field label="Signature header" required>
            <Input value={header} onChange={(event) => setHeader(event.target.value)} />
          </Field>
        )}
        <Field label="If a value can’t be processed" group>
          <Segmented
            label="If a value can’t be processed"
            value={mode}
            onValueChange={setMode}
            options={[
              { value: 'strict', label: 'Refuse the call' },
              { value: 'lenient', label: 'Leave it unchanged' },
            ]}
          />
        </Field>
        <MutationError error={create.error ?? update.error} />
        {edited ? (
          <ApiEquivalent method="PATCH" path={`/routes/${routeId}/actions/${edited.id}`} body={changes} />
        ) : (
          <ApiEquivalent method="POST" path={`/routes/${routeId}/actions`} body={input} />
        )}
      </form>
    </Sheet>
  );
}
