'use client';

import { Chip } from '#components/ui/badge.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { METHODS } from '#server/domain/routes/config/schema.ts';
import { Setting } from './setting.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

/** The methods a route accepts in one environment. */
export function AllowedMethodsCard({ editor }: { editor: ConfigEditor }) {
  return (
    <SectionCard title="Allowed methods" description="Other methods are refused with 405. GET includes HEAD.">
      <Setting
        editor={editor}
        field="allowed_methods"
        label="Methods"
        group
        hint={
          editor.value('http_method_restrictions_enabled') || 'allowed_methods' in editor.draft
            ? undefined
            : 'All methods are allowed. Select methods to restrict the route.'
        }
      >
        {({ value, set, disabled }) => {
          const chosen = value ?? [];
          const toggle = (method: string) => {
            const next = METHODS.filter((m) => (m === method ? !chosen.includes(m) : chosen.includes(m)));
            // Null on an override would inherit the base's restriction instead of lifting it.
            set(next.length > 0 ? next : editor.isBase ? null : []);
          };
          return (
            <div className="flex flex-wrap gap-1.5">
              {METHODS.map((method) =>
                disabled ? (
                  <Chip key={method} active={chosen.includes(method)}>
                    {method}
                  </Chip>
                ) : (
                  <Chip key={method} active={chosen.includes(method)} onClick={() => toggle(method)}>
                    {method}
                  </Chip>
                ),
              )}
            </div>
          );
        }}
      </Setting>
    </SectionCard>
  );
}
