import { cn } from '#components/ui/cn.ts';

export type EnvironmentLook = { name: string; display_name: string; color: string };

/** One mark per environment of the space: filled where a value is set, hollow where it is missing. The count says it in words. */
export function Coverage({ environments, set }: { environments: readonly EnvironmentLook[] | undefined; set: readonly string[] }) {
  if (!environments) return <span className="figures">{set.length}</span>;
  const missing = environments.filter((environment) => !set.includes(environment.name));
  return (
    <span
      className="inline-flex items-center gap-2 whitespace-nowrap"
      title={missing.length ? `Missing in ${missing.map((e) => e.display_name).join(', ')}` : undefined}
    >
      <span aria-hidden className="flex items-center gap-1">
        {environments.slice(0, 8).map((environment) => {
          const held = set.includes(environment.name);
          return (
            <span
              key={environment.name}
              className={cn(
                'keep-fill size-2.5 rounded-full border',
                held ? 'border-ink/25' : 'border-line-control border-dashed bg-transparent',
              )}
              style={held && /^#[0-9a-f]{6}$/i.test(environment.color) ? { backgroundColor: environment.color } : undefined}
            />
          );
        })}
      </span>
      <span className={cn('figures text-xs', missing.length ? 'text-warn-ink' : 'text-ink-3')}>
        {environments.length - missing.length} of {environments.length}
        <span className="sr-only">{missing.length ? ` set, missing in ${missing.map((e) => e.display_name).join(', ')}` : ' set'}</span>
      </span>
    </span>
  );
}
