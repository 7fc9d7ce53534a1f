'use client';

import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { BodyEditor } from './body-editor.tsx';
import { bodyOf, type Config, draftFrom } from './config-draft.ts';
import type { ConfigEditor } from './use-config-editor.ts';

/** The same unsaved value as the forms, as the body of the API. Either side changes the other. */
export function JsonTab({ editor, base }: { editor: ConfigEditor; base: Config }) {
  const name = useEnvironmentLabel();
  const body = bodyOf(editor.config, base, editor.draft);
  const problems = Object.entries({ ...editor.below('inject_headers_json') });
  return (
    <SectionCard
      title={`Configuration in ${name(editor.env)}`}
      description={
        editor.isBase
          ? 'All settings of the base configuration, as the API takes them.'
          : `Overrides only. Remove a field to inherit it from ${name(editor.baseName)}.`
      }
    >
      <div className="flex flex-col gap-4">
        <BodyEditor
          label={`Configuration in ${name(editor.env)} (JSON)`}
          rows={18}
          value={body}
          disabled={editor.readOnly !== undefined}
          environment={editor.env}
          onChange={(next) => editor.replace(draftFrom(next, editor.config, editor.isBase))}
        />
        {problems.map(([field, message]) => (
          <p key={field} role="alert" className="text-bad-ink text-xs">
            {field}: {message}
          </p>
        ))}
        <ApiEquivalent method="PUT" path={`/routes/${editor.routeId}/environments/${editor.env}`} body={body} />
      </div>
    </SectionCard>
  );
}
