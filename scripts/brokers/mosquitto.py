"""A Mosquitto broker for MQTT, with a port for everybody and one that asks for a password."""

from __future__ import annotations

import os
import subprocess

from servers import CACHE, HOST, Addresses, Server, alone, found, install

USER, PASSWORD = "reader", "open sesame"

SETTINGS = """per_listener_settings true
persistence true
persistence_location {folder}/
autosave_interval 1
max_queued_messages 0
listener {open} {host}
allow_anonymous true
listener {password} {host}
allow_anonymous false
password_file {folder}/passwords
"""


class Mosquitto(Server):
    name = "mosquitto"
    ports = ("open", "password")

    def addresses(self) -> Addresses:
        ports = self.chosen_ports()
        return {
            "address": f"{HOST}:{ports['open']}",
            "protected": f"{HOST}:{ports['password']}",
            "user": USER,
            "password": PASSWORD,
        }

    def fetch(self) -> None:
        with alone(CACHE / "mosquitto.lock"):
            if not (found("mosquitto") and found("mosquitto_passwd")):
                install("mosquitto")

    def command(self, ports: dict[str, int]) -> list[str]:
        settings, passwords = self.folder / "mosquitto.conf", self.folder / "passwords"
        settings.write_text(SETTINGS.format(host=HOST, folder=self.folder, **ports))
        program = found("mosquitto_passwd")
        assert program is not None
        subprocess.run([program, "-b", "-c", str(passwords), USER, PASSWORD], check=True)
        if os.geteuid() == 0:
            # As root, Mosquitto becomes the user of that name, who has to read and write its files.
            settings.write_text(settings.read_text() + "user root\n")
        mosquitto = found("mosquitto")
        assert mosquitto is not None
        return [mosquitto, "-c", str(settings)]
