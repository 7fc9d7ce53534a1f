// Sends back every message of a WebSocket: what `npm run bench sockets` is measured in front of.
import { WebSocketServer } from 'ws';

const { port } = JSON.parse(process.argv[2] ?? '') as { port: number };
new WebSocketServer({ port, host: '127.0.0.1', perMessageDeflate: false }).on('connection', (socket) => {
  socket.on('message', (message, binary) => socket.send(message, { binary }));
});
