'use client';

import { useState } from 'react';
import { PermissionSummary } from '#components/roles/permission-summary.tsx';
import { useScope } from '#components/trpc/provider.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Link } from '#components/ui/link.tsx';
import { Scroll } from '#components/ui/scroll.tsx';
import { KEY_ROLES, keyCapabilities } from '#server/domain/roles/catalogue.shared.ts';
import { swallowed } from './key-labels.ts';

type Props = { value: readonly string[]; onChange: (value: string[]) => void; error?: string | undefined };

/** The roles of a key, each with its sentence, and what the chosen ones add up to. */
export function RolePicker({ value, onChange, error }: Props) {
  const toggle = (id: string, on: boolean) => onChange(on ? [...value, id] : value.filter((one) => one !== id));
  const both = swallowed(value);
  return (
    <Field
      group
      label="Roles"
      required
      error={error}
      hint="Pick the narrowest role that works. You can’t grant permissions you don’t have."
    >
      <div className="flex flex-col gap-2.5 rounded-lg border border-line-strong p-3">
        {KEY_ROLES.map((role) => (
          <Checkbox
            key={role.id}
            checked={value.includes(role.id)}
            onCheckedChange={(on) => toggle(role.id, on)}
            label={role.name.replace(/^Key - /, '')}
            description={role.description}
          />
        ))}
      </div>
      {both && (
        <p role="status" className="text-warn-ink text-xs">
          {both.wide} already includes {both.narrow}. To limit the key, clear {both.wide}.
        </p>
      )}
      <RolePreview roles={value} />
    </Field>
  );
}

/** What a choice of roles adds up to, in words. */
export function RolePreview({ roles, open }: { roles: readonly string[]; open?: boolean }) {
  const { slug } = useScope();
  const [shown, setShown] = useState(open ?? false);
  if (roles.length === 0) return <p className="text-warn-ink text-xs">Select a role. Without one, the key can’t do anything.</p>;
  const held = keyCapabilities(roles);
  return (
    <details
      open={shown}
      onToggle={(event) => setShown(event.currentTarget.open)}
      className="rounded-lg border border-line-strong bg-subtle"
    >
      <summary className="cursor-pointer select-none rounded-lg px-3 py-2 text-ink-2 text-xs hover:text-ink">
        Permissions of {roles.length === 1 ? 'this role' : 'these roles'}
      </summary>
      <Scroll className="max-h-72 overflow-y-auto border-line-strong border-t px-3 py-2">
        {shown && <PermissionSummary grants={(capability) => (held.has(capability) ? 'yes' : 'no')} />}
        <Link href={`/${slug}/settings/roles?role=${roles[0]}`} className="mt-2 block text-accent-ink text-xs underline underline-offset-2">
          Compare roles
        </Link>
      </Scroll>
    </details>
  );
}
