'use client';

import { type Arc, arcPath, HEIGHT, landPath, placeOf, WIDTH } from './arcs.ts';

type Props = {
  arcs: readonly Arc[];
  /** Says in a sentence what is drawn; the table of calls says the rest. */
  label: string;
};

const LAND = landPath();

/** Where calls come from and go to. An arc is drawn once, when its call is new; people who want less motion see it drawn. */
export function WorldMap({ arcs, label }: Props) {
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${WIDTH.toString()} ${HEIGHT.toString()}`} className="block w-full">
      <path d={LAND} stroke="var(--line-control)" strokeWidth="3" strokeLinecap="round" fill="none" opacity="0.7" />
      {arcs.map(({ id, from, to, ink }) => {
        const start = placeOf(from);
        const end = to && placeOf(to);
        return (
          <g key={id} stroke={`var(--${ink})`} fill="none">
            {end && (
              <path
                d={arcPath(start, end)}
                pathLength="1"
                strokeDasharray="1"
                strokeWidth="1.25"
                className="animate-[live-arc_2s_ease-out_both]"
              />
            )}
            <circle cx={start.x} cy={start.y} r="2.5" fill={`var(--${ink})`} stroke="none" />
            {end && <circle cx={end.x} cy={end.y} r="2.5" fill="var(--surface)" strokeWidth="1.25" />}
          </g>
        );
      })}
    </svg>
  );
}
