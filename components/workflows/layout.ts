import dagre from '@dagrejs/dagre';
import { type Document, outletOf, STEP_SIZE } from './document.ts';
import { outletsOf } from './step-kinds.ts';

/** Where each step would stand if they were laid out from top to bottom, in the order of their outlets. */
export function laidOut(doc: Document): Map<string, { x: number; y: number }> {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 48, ranksep: STEP_SIZE.gap });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of doc.nodes) graph.setNode(id, { width: STEP_SIZE.width, height: STEP_SIZE.height });
  // The order of edges is the order from left to right.
  for (const step of doc.nodes)
    for (const outlet of outletsOf(step))
      for (const edge of doc.edges.filter(({ source }) => source === step.id))
        if (outletOf(edge) === outlet.id && doc.nodes.some(({ id }) => id === edge.target))
          graph.setEdge(edge.source, edge.target, {}, edge.id);
  dagre.layout(graph);
  return new Map(
    doc.nodes.map(({ id }) => {
      const { x, y } = graph.node(id);
      return [id, { x: Math.round(x - STEP_SIZE.width / 2), y: Math.round(y - STEP_SIZE.height / 2) }];
    }),
  );
}
