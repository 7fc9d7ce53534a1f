'use client';

import { Badge } from '#components/ui/badge.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { KEY_ROLES } from '#server/domain/roles/schema.ts';
import { capabilitiesByResource } from './key-words.ts';

type Props = { value: readonly string[]; onChange: (value: string[]) => void; error?: string | undefined };

/** The roles of a key, each with its sentence, and what the chosen ones add up to. */
export function RolePicker({ value, onChange, error }: Props) {
  const toggle = (id: string, on: boolean) => onChange(on ? [...value, id] : value.filter((one) => one !== id));
  return (
    <Field group label="Roles" required error={error} hint="The narrowest that does the work. You cannot give more than you hold yourself.">
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
      <RolePreview roles={value} />
    </Field>
  );
}

/** The capabilities behind a choice of roles, by what they act on. */
export function RolePreview({ roles, open }: { roles: readonly string[]; open?: boolean }) {
  const grouped = capabilitiesByResource(roles);
  const count = grouped.reduce((sum, { actions }) => sum + actions.length, 0);
  if (count === 0) return <p className="text-warn-ink text-xs">Without a role the key may do nothing.</p>;
  return (
    <details open={open} className="rounded-lg border border-line-strong bg-subtle">
      <summary className="cursor-pointer select-none rounded-lg px-3 py-2 text-ink-2 text-xs hover:text-ink">
        May do {count} things on {grouped.length} kinds of resource
      </summary>
      <dl
        tabIndex={0} // a region that scrolls must be reachable from the keyboard
        className="max-h-64 overflow-y-auto border-line-strong border-t px-3 py-2 text-xs"
      >
        {grouped.map(({ resource, actions }) => (
          <div key={resource} className="grid grid-cols-[8rem_1fr] items-baseline gap-2 py-0.5">
            <dt className="truncate font-mono text-ink-2">{resource}</dt>
            <dd className="flex flex-wrap gap-1">
              {actions.map((action) => (
                <Badge key={action} mono>
                  {action}
                </Badge>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
