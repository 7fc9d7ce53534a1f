'use client';

import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { BodyEditor } from './body-editor.tsx';
import { InjectionEditor } from './injection-editor.tsx';
import { Setting } from './setting.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

/** What a route puts into the calls of one environment. */
export function ConfigTab({ editor, routeName }: { editor: ConfigEditor; routeName: string }) {
  return (
    <>
      <SectionCard title="Upstream" description="Where calls go. What the caller puts after the route’s name is added to this URL.">
        <Setting
          editor={editor}
          field="target_base_url"
          label="Target URL"
          hint="Only https. {{var:key}} of the collection may stand in host labels and path, secrets may not."
        >
          {({ value, set, disabled }) => <Input mono value={value} disabled={disabled} onChange={(event) => set(event.target.value)} />}
        </Setting>
      </SectionCard>
      <SectionCard
        title="Put into each call"
        description="Values may hold {{secret_id:…}}, {{var:key}} and facts such as {{request_id}}. They win over what the caller sends under the same name."
      >
        <div className="flex flex-col gap-6">
          <Setting editor={editor} field="inject_headers_json" label="Headers" group>
            {({ value, set, disabled }) => (
              <InjectionEditor
                kind="header"
                value={value}
                onChange={set}
                disabled={disabled}
                environment={editor.env}
                routeName={routeName}
                errors={editor.below('inject_headers_json')}
              />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="inject_query_json"
            label="Query parameters"
            group
            hint="The log keeps the caller’s query without them."
          >
            {({ value, set, disabled }) => (
              <InjectionEditor
                kind="query"
                value={value}
                onChange={set}
                disabled={disabled}
                environment={editor.env}
                routeName={routeName}
                errors={editor.below('inject_query_json')}
              />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="inject_body_json"
            label="Body"
            hint="Merged into JSON bodies of POST, PUT and PATCH; for forms its top-level values are set. Other bodies are then refused with 415."
          >
            {({ value, set, disabled }) => <BodyEditor value={value} onChange={set} disabled={disabled} environment={editor.env} />}
          </Setting>
        </div>
      </SectionCard>
    </>
  );
}
