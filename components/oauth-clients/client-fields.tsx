'use client';

import { z } from 'zod';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { MultiCombobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { fieldError, type ZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { type GrantType, isInteractive, TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import type { ClientType } from '#server/domain/oauth-clients/redirect-uris.shared.ts';
import { SCOPE_CATALOGUE, STEP_UP_SCOPES } from '#server/domain/oauth-clients/scopes.shared.ts';
import { urisOf } from './redirect-uri-text.ts';
import { ScopePicker } from './scope-picker.tsx';

/** What create and edit have in common, as it is typed. */
export const clientFields = {
  name: z.string().trim().min(1, 'is required').max(100),
  redirect_uris: z.string(),
  allowed_scopes: z.array(z.string()),
  step_up_scopes: z.array(z.string()),
  require_dpop: z.boolean(),
};
const Fields = z.object(clientFields);
export type ClientFieldValues = z.input<typeof Fields>;

/** The typed fields as the endpoints take them. */
export const clientInput = ({ name, redirect_uris, allowed_scopes, step_up_scopes, require_dpop }: z.output<typeof Fields>) => ({
  name,
  redirect_uris: urisOf(redirect_uris),
  allowed_scopes,
  step_up_scopes: step_up_scopes.filter((scope) => allowed_scopes.includes(scope)),
  require_dpop,
});

type Kind = { type: ClientType; grant_types: readonly GrantType[] };

/** Name, redirect URIs, scopes and proof of a client. */
export function ClientFields<T extends ClientFieldValues>({ form: given, kind }: { form: ZodForm<T, T>; kind: Kind }) {
  // The fields below exist in every form this is given to; the generic form's own paths cannot say so.
  const form = given as unknown as ZodForm<ClientFieldValues>;
  const { allowed_scopes, step_up_scopes, require_dpop } = form.watch();
  const people = isInteractive(kind.grant_types);
  const machine = kind.grant_types.includes('client_credentials') || kind.grant_types.includes(TOKEN_EXCHANGE);
  const set = (name: 'allowed_scopes' | 'step_up_scopes', scopes: string[]) => form.setValue(name, scopes, { shouldDirty: true });
  const suggested = allowed_scopes.filter((scope) => STEP_UP_SCOPES.includes(scope) && !step_up_scopes.includes(scope));
  return (
    <>
      <Field
        label="Name"
        required
        error={fieldError(form, 'name')}
        hint={people ? 'People see it when they grant access.' : 'What uses this client. Shown in the audit log.'}
      >
        <Input placeholder={people ? 'Acme Console' : 'deploy-bot'} autoComplete="off" {...form.register('name')} />
      </Field>
      {kind.grant_types.includes('authorization_code') && (
        <Field
          label="Redirect URIs"
          required
          error={fieldError(form, 'redirect_uris')}
          hint={
            kind.type === 'public'
              ? 'Where people return after they agree, one per line. On 127.0.0.1, [::1] and localhost, any port matches.'
              : 'Where people return after they agree, one https address per line.'
          }
        >
          <Textarea
            mono
            rows={2}
            placeholder={kind.type === 'public' ? 'http://127.0.0.1/callback' : 'https://app.example.com/callback'}
            {...form.register('redirect_uris')}
          />
        </Field>
      )}
      <ScopePicker
        value={allowed_scopes}
        onChange={(scopes) => set('allowed_scopes', scopes)}
        people={people}
        machine={machine}
        error={fieldError(form, 'allowed_scopes')}
      />
      {people && allowed_scopes.length > 0 && (
        <Field
          label="Second factor"
          optional
          error={fieldError(form, 'step_up_scopes')}
          hint="People confirm a second factor before they grant these scopes."
          action={
            suggested.length > 0 && (
              <Button size="sm" variant="ghost" onClick={() => set('step_up_scopes', [...step_up_scopes, ...suggested])}>
                Add the risky ones
              </Button>
            )
          }
        >
          <MultiCombobox
            values={step_up_scopes.filter((scope) => allowed_scopes.includes(scope))}
            onValuesChange={(scopes) => set('step_up_scopes', scopes)}
            options={allowed_scopes.map((scope) => ({ value: scope, label: scope, detail: SCOPE_CATALOGUE[scope]?.title ?? '' }))}
            placeholder="Add a scope…"
          />
        </Field>
      )}
      <Checkbox
        checked={require_dpop}
        onCheckedChange={(on) => form.setValue('require_dpop', on, { shouldDirty: true })}
        label="Require DPoP"
        description="Binds every token to a key of the client, so that a stolen token is useless. The client must support RFC 9449."
      />
    </>
  );
}
