import { cn } from '#components/ui/cn.ts';

export type RouteIconProps = { name: string; icon: string | undefined; className?: string };

/** The icon of a route's upstream, or the first letter of its name. Icons are drawn for light pages, so each stands on a light plate. */
export function RouteIcon({ name, icon, className }: RouteIconProps) {
  const plate = 'inline-flex size-5 shrink-0 items-center justify-center overflow-hidden rounded-sm border border-line-strong';
  if (!icon)
    return (
      <span aria-hidden className={cn(plate, 'select-none bg-subtle font-medium text-2xs text-ink-2', className)}>
        {letterOf(name)}
      </span>
    );
  return (
    <span aria-hidden className={cn(plate, 'bg-[#fff]', className)}>
      {/* biome-ignore lint/performance/noImgElement: a data URL of a few hundred bytes has nothing to optimise. */}
      <img src={icon} alt="" width={16} height={16} decoding="async" className="size-4 object-contain" />
    </span>
  );
}

const letterOf = (name: string): string => /[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase() ?? '·';
