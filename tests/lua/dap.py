"""dap.py - serves the data set `t` by DAP 2 on a port of this machine: one variable, eta(y, x),
2 x 3 floats; also as `cut`, whose data end too early, and `stall`, whose never do. Prints the port,
the number of its process and a port that takes calls and never answers."""

import http.server
import os
import socket
import struct
import time

DDS = b'Dataset {\n    Float32 eta[y = 2][x = 3];\n} t;\n'
DAS = b'Attributes {\n    eta {\n        String units "m";\n    }\n}\n'
DATA = struct.pack('>II6f', 6, 6, 1, 2, 3, 4, 5, 6)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name, _, part = self.path.split('?')[0].partition('.')
        body = {'dds': DDS, 'das': DAS, 'dods': DDS + b'\nData:\n' + DATA}.get(part)
        if name not in ('/t', '/cut', '/stall'):
            body = None
        body = body or b'Error {\n    code = 404;\n    message = "none";\n};\n'
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        is_whole = part != 'dods' or name == '/t'
        self.wfile.write(body if is_whole else body[:-8])
        if not is_whole and name == '/stall':
            time.sleep(60)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
silent = socket.create_server(('127.0.0.1', 0))
print(server.server_port, os.getpid(), silent.getsockname()[1], flush=True)
server.serve_forever()
