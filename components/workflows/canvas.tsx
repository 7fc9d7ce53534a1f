'use client';

import '@xyflow/react/dist/base.css';
import {
  Background,
  type Connection,
  type EdgeChange,
  type Edge as FlowEdge,
  MarkerType,
  MiniMap,
  type NodeChange,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import { Map as MapIcon, Maximize, Minus, Plus } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { IconButton } from '#components/ui/button.tsx';
import { CanvasEdge, type CanvasEdgeData } from './canvas-edge.tsx';
import { CanvasStep, type FlowStep } from './canvas-step.tsx';
import { cannotConnect, type Document, outletOf, type Place, STEP_SIZE } from './document.ts';
import { outletsOf } from './step-kinds.ts';
import type { StepMark } from './step-mark.tsx';

export type CanvasEdits = {
  move: (positions: ReadonlyMap<string, { x: number; y: number }>) => void;
  connect: (source: string, outlet: string, target: string) => void;
  /** A step is wanted there: the palette opens. */
  add: (place: Place) => void;
};

export type CanvasProps = {
  doc: Document;
  /** What is drawn, in words. */
  label: string;
  selected: ReadonlySet<string>;
  onSelect: (steps: readonly string[], edges: readonly string[]) => void;
  selectedEdges?: ReadonlySet<string>;
  marks?: ReadonlyMap<string, StepMark>;
  edgeMarks?: ReadonlyMap<string, CanvasEdgeData['mark']>;
  /** Without them it can only be looked at. */
  edits?: CanvasEdits | undefined;
  /** Changes when the whole should be in view again. */
  fit?: number;
};

const nodeTypes = { step: CanvasStep };
const edgeTypes = { way: CanvasEdge };
const none: ReadonlySet<string> = new Set();

/** A workflow as a graph: pan, zoom, choose, and with `edits` move, join and add. */
export const Canvas = (props: CanvasProps) => (
  <ReactFlowProvider>
    <Drawn {...props} />
  </ReactFlowProvider>
);

function Drawn({ doc, label, selected, onSelect, selectedEdges = none, marks, edgeMarks, edits, fit = 0 }: CanvasProps) {
  const flow = useReactFlow();
  const [dragged, setDragged] = useState<ReadonlyMap<string, { x: number; y: number }>>(new Map());
  const [mapShown, setMapShown] = useState(true);
  // One press can choose a step and let go of an edge, told one after the other: the second must know of the first.
  const picks = useRef({ steps: selected, edges: selectedEdges });
  picks.current = { steps: selected, edges: selectedEdges };
  const pick = (steps: ReadonlySet<string>, ways: ReadonlySet<string>) => {
    picks.current = { steps, edges: ways };
    onSelect([...steps], [...ways]);
  };
  const roomy = useStore(({ width }) => width > 560);
  useEffect(() => {
    // A first look, and each time somebody asks for one.
    const frame = requestAnimationFrame(
      () => void flow.fitView({ maxZoom: 1, minZoom: 0.3, padding: 0.15, duration: fit === 0 ? 0 : 200 }),
    );
    return () => cancelAnimationFrame(frame);
  }, [fit, flow]);
  const nodes = useMemo(
    (): FlowStep[] =>
      doc.nodes.map((step) => ({
        id: step.id,
        type: 'step' as const,
        position: dragged.get(step.id) ?? step.position ?? { x: 0, y: 0 },
        ...{ width: STEP_SIZE.width, height: STEP_SIZE.height, measured: { width: STEP_SIZE.width, height: STEP_SIZE.height } },
        selected: selected.has(step.id),
        ariaLabel: `${step.name ?? step.id}${wordsOf(marks?.get(step.id))}`,
        data: {
          step,
          mark: marks?.get(step.id),
          open: outletsOf(step).flatMap(({ id }) =>
            doc.edges.some((edge) => edge.source === step.id && outletOf(edge) === id) ? [] : [id],
          ),
          onAdd: edits?.add,
        },
      })),
    [doc, dragged, selected, marks, edits],
  );
  const edges = useMemo(
    (): FlowEdge<CanvasEdgeData>[] =>
      doc.edges.map((edge) => ({
        id: edge.id,
        type: 'way',
        source: edge.source,
        target: edge.target,
        sourceHandle: outletOf(edge),
        selected: selectedEdges.has(edge.id),
        markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: 'var(--line-control)' },
        data: { mark: edgeMarks?.get(edge.id), onAdd: edits?.add },
      })),
    [doc, selectedEdges, edgeMarks, edits],
  );
  const changeSteps = (changes: NodeChange<FlowStep>[]) => {
    const picked = new Set(picks.current.steps);
    let repicked = false;
    const moving = new Map(dragged);
    const moved = new Map<string, { x: number; y: number }>();
    for (const change of changes) {
      if (change.type === 'select') {
        repicked = true;
        if (change.selected) picked.add(change.id);
        else picked.delete(change.id);
      }
      if (change.type === 'position' && change.position) {
        if (change.dragging) moving.set(change.id, change.position);
        else moved.set(change.id, rounded(change.position));
      }
    }
    if (repicked)
      onSelect(
        [...picked],
        [...selectedEdges].filter(() => picked.size > 0),
      );
    if (moved.size > 0) {
      setDragged(new Map());
      edits?.move(moved);
    } else if (moving.size > 0) setDragged(moving);
  };
  const changeEdges = (changes: EdgeChange[]) => {
    const picked = new Set(picks.current.edges);
    for (const change of changes) if (change.type === 'select') change.selected ? picked.add(change.id) : picked.delete(change.id);
    if (changes.some(({ type }) => type === 'select')) pick(picks.current.steps, picked);
  };
  return (
    <ReactFlow
      aria-label={label}
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      onNodesChange={changeSteps}
      onEdgesChange={changeEdges}
      onPaneClick={() => pick(none, none)}
      onConnect={({ source, sourceHandle, target }: Connection) => edits?.connect(source, sourceHandle ?? 'out', target)}
      isValidConnection={({ source, sourceHandle, target }) => !cannotConnect(doc, source, sourceHandle ?? 'out', target)}
      nodesDraggable={edits !== undefined}
      nodesConnectable={edits !== undefined}
      deleteKeyCode={null}
      zoomOnDoubleClick={false}
      minZoom={0.2}
      maxZoom={1.75}
      snapToGrid
      snapGrid={[8, 8]}
      // The page scrolls past the canvas as it does past anything; with Ctrl or two fingers it zooms.
      preventScrolling={false}
      zoomOnScroll={false}
      className="bg-canvas"
    >
      <Background color="var(--line-strong)" gap={24} size={1.2} />
      {mapShown && roomy && (
        <MiniMap
          pannable
          zoomable
          ariaLabel="Small map of the workflow"
          position="bottom-left"
          className="rounded-md border border-line-strong"
          style={{ width: 148, height: 100 }}
          bgColor="var(--surface)"
          maskColor="var(--scrim)"
          nodeColor="var(--line-control)"
          nodeStrokeWidth={0}
          nodeBorderRadius={12}
        />
      )}
      <Panel position="bottom-right" className="flex gap-1 rounded-md border border-line-strong bg-surface p-0.5">
        {roomy && (
          <IconButton
            size="sm"
            label={mapShown ? 'Hide the small map' : 'Show the small map'}
            icon={<MapIcon />}
            onClick={() => setMapShown(!mapShown)}
          />
        )}
        <IconButton size="sm" label="Zoom out" icon={<Minus />} onClick={() => void flow.zoomOut({ duration: 120 })} />
        <IconButton size="sm" label="Zoom in" icon={<Plus />} onClick={() => void flow.zoomIn({ duration: 120 })} />
        <IconButton
          size="sm"
          label="Show all of it"
          icon={<Maximize />}
          onClick={() => void flow.fitView({ maxZoom: 1, padding: 0.15, duration: 200 })}
        />
      </Panel>
    </ReactFlow>
  );
}

const rounded = ({ x, y }: { x: number; y: number }) => ({ x: Math.round(x), y: Math.round(y) });

/** What colours say, for the name of a step that is read out. */
const wordsOf = (mark: StepMark | undefined): string =>
  [mark?.status, mark?.diff, mark?.problems?.length ? `${mark.problems.length} problems` : '']
    .flatMap((word) => (word ? [`, ${word}`] : []))
    .join('');
